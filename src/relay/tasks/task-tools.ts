/**
 * Tools that a legacy server runs only as tasks (2025-11-25, tasks). Clients of other revisions, and
 * clients of an endpoint with several servers, do not have such tasks; so the gateway makes the task,
 * waits for its result, and returns that as the result of the call. The server's questions meanwhile
 * are asked as in any other call. When the stream of `tasks/result` breaks, the task runs on and is
 * polled.
 */

import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { type Call, forwardingTo, type OpenQuestion, type Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { LogLevel } from "../../protocol/log-levels.ts";
import { takesTasks } from "../../protocol/capabilities.ts";
import { namingTask } from "../../protocol/revisions/reserved-meta.ts";
import { readResumeToken } from "../../upstream/legacy/resume-token.ts";
import { UpstreamError, type UpstreamFailure } from "../../upstream/upstream-error.ts";
import { LISTING_PEER, TaskOnlyTools } from "./task-only-tools.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";

/** Of `tasks/result`, which changes nothing at the server, so it can be repeated after a failure. */
const ATTEMPTS = 4;
/** After this time a task is given up. */
const MAX_POLLED_MS = 3_600_000;
const POLL_MS = { least: 100, unsaid: 2000, most: 30_000 };
/** After these failures the task may still run. */
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["timeout", "lost", "unreachable"]);
/** These failures mean that a request did not run, which is not true of a call whose task was made. */
const NOT_RUN: ReadonlySet<UpstreamFailure> = new Set(["session-lost", "other-era", "account"]);
/** The wait for the id of a task whose call was cancelled: without its id it cannot be cancelled. */
const MAKING_MS = 10_000;

/** One request and the peer for its messages. */
export interface Sent {
  readonly call: Call;
  readonly logLevel?: LogLevel;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

/** A request that was sent before a restart. */
interface Resumed {
  /** Of its last message. */
  readonly resumeToken: string | undefined;
  /** Its open questions. */
  readonly asked: readonly OpenQuestion[];
}

/** Takes up such a request at the server. */
type Resume = (peer: Peer, asked: readonly OpenQuestion[]) => Promise<Reply>;

/** A session at the server. */
interface Sender {
  /** @throws UpstreamError when no answer is available; the reason of the signal. */
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
   * Sends a call, as a task where its tool needs one.
   *
   * @param capabilities of the server.
   * @throws as the sender does.
   */
  async send(sender: Sender, request: Sent, capabilities: JsonObject): Promise<Reply> {
    const { call, signal } = request;
    const isTool = call.method === "tools/call" && takesTasks(capabilities);
    const isTask = isTool && (await this.#taskOnly.has(sender, call.params?.name, signal));
    return isTask ? this.#run(sender, request) : sender.request(request);
  }

  async #run(sender: Sender, request: Sent): Promise<Reply> {
    const made = await this.#make(sender, request);
    if ("error" in made) return made;
    if (taskIn(made) === undefined) {
      throw new UpstreamError(this.#slug, "malformed", "made no task of a tool that needs one");
    }
    return this.#finish(sender, request, made);
  }

  /** Under a signal of its own: a client that cancels meanwhile would leave a task without a known id. */
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
   * Resumes a call from before a restart, whether it had its task by then or not.
   *
   * @throws as `send` does, except that failures which mean "did not run" become `lost`.
   */
  async resume(
    sender: Sender,
    request: Omit<Sent, "call">,
    { resumeToken, asked }: Resumed,
    resume: Resume,
  ): Promise<Reply> {
    const { task } = readResumeToken(resumeToken ?? "");
    if (task === undefined) {
      return this.#finish(sender, request, await resume(request.peer, asked));
    }
    const named = asked.map(({ wait, ...question }) => ({
      ...question,
      wait: async (...until: Parameters<typeof wait>) => namingTask(task, await wait(...until)),
    }));
    return this.#follow(sender, request, task, (peer) => resume(peer, named));
  }

  /** Waits for the result where a call was answered with a task. @param made the server's reply to the call. */
  async #finish(sender: Sender, request: Omit<Sent, "call">, made: Reply): Promise<Reply> {
    const taskId = taskIn(made);
    return taskId === undefined ? made : this.#follow(sender, request, taskId);
  }

  /** @param resume takes up the request for the result that was sent before a restart. */
  async #follow(
    sender: Sender,
    request: Omit<Sent, "call">,
    taskId: string,
    resume?: (peer: Peer) => Promise<Reply>,
  ): Promise<Reply> {
    const { peer, signal } = request;
    try {
      return await this.#result(sender, request, taskId, resume);
    } catch (error) {
      // A task does not end when its client cancels the call, so it is cancelled here.
      if (signal.aborted) void end(sender, peer, taskId);
      if (!(error instanceof UpstreamError && NOT_RUN.has(error.failure))) throw error;
      const sentence = "does not know the task any more that it made; its result is unknown";
      throw new UpstreamError(this.#slug, "lost", sentence);
    }
  }

  /** The server MUST hold the result back until the task has ended (2025-11-25, tasks). */
  async #result(
    sender: Sender,
    request: Omit<Sent, "call">,
    taskId: string,
    resume?: (peer: Peer) => Promise<Reply>,
  ): Promise<Reply> {
    const until = this.#now() + MAX_POLLED_MS;
    const peer = answeringFor(taskId, request.peer);
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1 && resume !== undefined) return await resume(peer);
        const call = { method: "tasks/result", params: { taskId } };
        return await sender.request({ ...request, peer, call });
      } catch (error) {
        const isBroken = error instanceof UpstreamError && BROKEN.has(error.failure);
        if (!isBroken || attempt === ATTEMPTS) throw error;
        if (!(await this.#isReady(sender, taskId, until, request.signal))) throw error;
      }
    }
  }

  /** Polls until the task is over or asks something. @returns false when polling fails or takes too long. */
  async #isReady(
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

function answeringFor(taskId: string, peer: Peer): Peer {
  return {
    ...forwardingTo(peer),
    ask: async (...question) => namingTask(taskId, await peer.ask(...question)),
  };
}

/** @returns the id of the task in a reply to a call; `undefined` where the reply has the result. */
function taskIn(reply: Reply): string | undefined {
  if ("error" in reply) return undefined;
  const { task, content } = reply.result;
  const { taskId } = isObject(task) && content === undefined ? task : {};
  return typeof taskId === "string" ? taskId : undefined;
}

function asTask({ method, params }: Call): Call {
  return { method, params: { ...params, task: {} } };
}

/** Never rejects. @param leaving aborts the making if it takes too long. */
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
  await sender.request({ call, peer, signal }).catch(() => undefined); // the server is gone, or the task is over
}
