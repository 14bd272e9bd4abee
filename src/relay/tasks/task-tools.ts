/**
 * Tools that a legacy server runs as tasks and in no other way (2025-11-25, tasks). Clients of other
 * revisions know nothing of such tasks, nor does one that several servers are one for; so the gateway has the task made, waits for what it comes to, and gives
 * that for the result of the call. What the server asks meanwhile, it asks as in any other call. A
 * task runs on where the stream breaks that its result was to come on: then it is polled.
 */

import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { metaOf, withMeta } from "../../protocol/envelope.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { LogLevel } from "../../protocol/log-levels.ts";
import { takesTasks } from "../../protocol/older-tasks.ts";
import { UpstreamError, type UpstreamFailure } from "../../upstream/upstream-error.ts";
import { LISTING_PEER, TaskOnlyTools } from "./task-only-tools.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";

const RELATED_TASK = "io.modelcontextprotocol/related-task";
/** Of asking for a result. It changes nothing at the server, and what breaks it may be over soon. */
const ATTEMPTS = 4;
/** After this, a task is nobody's call any more. */
const MAX_POLLED_MS = 3_600_000;
const POLL_MS = { least: 100, unsaid: 2000, most: 30_000 };
/** The task may run on. */
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["timeout", "lost", "unreachable"]);
/** They say that a request did not run, which is not true of a call whose task was made. */
const NOT_RUN: ReadonlySet<UpstreamFailure> = new Set(["session-lost", "other-era"]);
/** What a task is given to be made in when nobody wants it any more: it can be ended by its id alone. */
const MAKING_MS = 10_000;

/** One request, and what it hears. */
export interface Sent {
  readonly call: Call;
  readonly logLevel?: LogLevel;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

/** A session at the server. */
interface Sender {
  /** @throws UpstreamError when no answer can be had; the reason of the signal. */
  request(request: Sent): Promise<Reply>;
}

export class TaskTools {
  readonly #slug: string;
  readonly #now: () => number;
  readonly #taskOnly: TaskOnlyTools;

  /** @param maxItems of the server's list of tools that are looked at. */
  constructor(slug: string, now: () => number, maxItems: number) {
    this.#slug = slug;
    this.#now = now;
    this.#taskOnly = new TaskOnlyTools(now, maxItems);
  }

  /**
   * Sends a call in the way that its tool is run.
   *
   * @param capabilities of the server.
   * @throws as the sender does.
   */
  async send(sender: Sender, request: Sent, capabilities: JsonObject): Promise<Reply> {
    const { call, signal } = request;
    const isTool = call.method === "tools/call" && takesTasks(capabilities);
    const isTask = isTool && (await this.#taskOnly.has(sender, call.params?.["name"], signal));
    return isTask ? this.#run(sender, request) : sender.request(request);
  }

  async #run(sender: Sender, request: Sent): Promise<Reply> {
    const made = await this.#make(sender, request);
    if ("error" in made) return made;
    if (taskIn(made) === undefined) {
      throw new UpstreamError(this.#slug, "malformed", "made no task of a tool that needs one");
    }
    return this.finish(sender, request, made);
  }

  /** Under a signal of its own: whoever hangs up meanwhile would leave a task that nobody can end. */
  async #make(sender: Sender, request: Sent): Promise<Reply> {
    const { call, peer, signal } = request;
    const leaving = new AbortController();
    const making = sender.request({ ...request, call: asTask(call), signal: leaving.signal });
    try {
      return await unlessAborted(making, signal);
    } catch (error) {
      if (signal.aborted) void endOnceMade(sender, peer, making, leaving);
      throw error;
    }
  }

  /**
   * Waits for the result of a task, where that is what a call was answered with; also of one that was
   * made before a restart.
   *
   * @param made what the server has answered.
   * @throws as the sender does, but for what would say that the call did not run.
   */
  async finish(sender: Sender, request: Omit<Sent, "call">, made: Reply): Promise<Reply> {
    const { peer, signal } = request;
    const taskId = taskIn(made);
    if (taskId === undefined) return made;
    try {
      return await this.#result(sender, request, taskId);
    } catch (error) {
      // That nobody waits for its result does not end a task.
      if (signal.aborted) void end(sender, peer, taskId);
      if (!(error instanceof UpstreamError && NOT_RUN.has(error.failure))) throw error;
      const sentence = "does not know the task any more that it made; its result is unknown";
      throw new UpstreamError(this.#slug, "lost", sentence, { cause: error });
    }
  }

  /** The server MUST hold it back until the task has come to its end (2025-11-25, tasks). */
  async #result(sender: Sender, request: Omit<Sent, "call">, taskId: string): Promise<Reply> {
    const until = this.#now() + MAX_POLLED_MS;
    const peer = answeringFor(taskId, request.peer);
    for (let attempt = 1; ; attempt++) {
      try {
        const call = { method: "tasks/result", params: { taskId } };
        return await sender.request({ ...request, peer, call });
      } catch (error) {
        const isBroken = error instanceof UpstreamError && BROKEN.has(error.failure);
        if (!isBroken || attempt === ATTEMPTS) throw error;
        if (!(await this.#waits(sender, taskId, until, request.signal))) throw error;
      }
    }
  }

  /** @returns once the task is over or asks something; whether it may be asked for its result then. */
  async #waits(
    sender: Sender,
    taskId: string,
    until: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    while (this.#now() < until) {
      const call = { method: "tasks/get", params: { taskId } };
      const reply = await sender.request({ call, peer: LISTING_PEER, signal });
      if ("error" in reply) return false;
      const { status, pollInterval } = reply.result;
      if (status !== "working") return true;
      const ms = typeof pollInterval === "number" ? pollInterval : POLL_MS.unsaid;
      await sleep(Math.min(Math.max(ms, POLL_MS.least), POLL_MS.most), signal);
    }
    return false;
  }
}

/** What is said for a task MUST name it (2025-11-25, tasks), and modern clients know of none. */
function answeringFor(taskId: string, peer: Peer): Peer {
  return {
    ...peer,
    async ask(question, withdrawn, ticket, brought) {
      const reply = await peer.ask(question, withdrawn, ticket, brought);
      if ("error" in reply) return reply;
      const { result } = reply;
      return { result: withMeta(result, { ...metaOf(result), [RELATED_TASK]: { taskId } }) };
    },
  };
}

/** The id of the task that a call was answered with, and not with its result. */
function taskIn(reply: Reply): string | undefined {
  if ("error" in reply) return undefined;
  const { task, content } = reply.result;
  const taskId = isObject(task) && content === undefined ? task["taskId"] : undefined;
  return typeof taskId === "string" ? taskId : undefined;
}

function asTask({ method, params }: Call): Call {
  return { method, params: { ...params, task: {} } };
}

/** Never rejects. @param leaving stops the making, should it take too long. */
async function endOnceMade(
  sender: Sender,
  peer: Peer,
  making: Promise<Reply>,
  leaving: AbortController,
): Promise<void> {
  const made = await settleWithin(making, MAKING_MS).catch(() => undefined);
  leaving.abort(new Error("Nobody waits for it any more"));
  const taskId = made === undefined ? undefined : taskIn(made);
  if (taskId !== undefined) await end(sender, peer, taskId);
}

async function end(sender: Sender, peer: Peer, taskId: string): Promise<void> {
  const call = { method: "tasks/cancel", params: { taskId } };
  const { signal } = new AbortController();
  await sender.request({ call, peer, signal }).catch(() => undefined); // it is gone, or over
}
