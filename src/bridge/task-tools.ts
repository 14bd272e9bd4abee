/**
 * Tools that a legacy server runs as tasks and in no other way (2025-11-25, tasks). Clients of other
 * revisions know nothing of such tasks, nor does one that several servers are one for; so the gateway has the task made, waits for what it comes to, and gives
 * that for the result of the call. What the server asks meanwhile, it asks as in any other call. A
 * task runs on where the stream breaks that its result was to come on: then it is polled.
 */

import { sleep } from "../lib/sleep.ts";
import { metaOf, withMeta } from "../protocol/envelope.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../protocol/json-rpc.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { LogLevel } from "../protocol/log-levels.ts";
import { takesTasks } from "../protocol/older-tasks.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream/upstream-error.ts";

const RELATED_TASK = "io.modelcontextprotocol/related-task";
const MAX_PAGES = 100;
const FRESH_MS = 60_000;
/** Of asking for a result. It changes nothing at the server, and what breaks it may be over soon. */
const ATTEMPTS = 4;
/** After this, a task is nobody's call any more. */
const MAX_POLLED_MS = 3_600_000;
const POLL_MS = { least: 100, unsaid: 2000, most: 30_000 };
/** The task may run on. */
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["timeout", "lost", "unreachable"]);

/** Lists are read for the gateway itself. */
const NOBODY: Peer = {
  notify: () => Promise.resolve(),
  ask: () =>
    Promise.resolve(
      errorReply(ErrorCode.InvalidRequest, "Nothing is asked in the course of a list"),
    ),
};

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
  #names: ReadonlySet<string> = new Set();
  #readAt = -Infinity;

  constructor(slug: string, now: () => number) {
    this.#slug = slug;
    this.#now = now;
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
    const isTask = isTool && (await this.#requires(sender, call.params?.["name"], signal));
    return isTask ? this.#run(sender, request) : sender.request(request);
  }

  async #run(sender: Sender, request: Sent): Promise<Reply> {
    const made = await sender.request({ ...request, call: asTask(request.call) });
    if ("error" in made) return made;
    if (taskIn(made) === undefined) {
      throw new UpstreamError(this.#slug, "malformed", "made no task of a tool that needs one");
    }
    return this.finish(sender, request, made);
  }

  /**
   * Waits for the result of a task, where that is what a call was answered with; also of one that was
   * made before a restart.
   *
   * @param made what the server has answered.
   * @throws as the sender does.
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
      throw error;
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
      const reply = await sender.request({ call, peer: NOBODY, signal });
      if ("error" in reply) return false;
      const { status, pollInterval } = reply.result;
      if (status !== "working") return true;
      const ms = typeof pollInterval === "number" ? pollInterval : POLL_MS.unsaid;
      await sleep(Math.min(Math.max(ms, POLL_MS.least), POLL_MS.most), signal);
    }
    return false;
  }

  async #requires(sender: Sender, name: unknown, signal: AbortSignal): Promise<boolean> {
    if (this.#now() - this.#readAt > FRESH_MS) {
      this.#names = await read(sender, signal);
      this.#readAt = this.#now();
    }
    return typeof name === "string" && this.#names.has(name);
  }
}

/** What is said for a task MUST name it (2025-11-25, tasks), and modern clients know of none. */
function answeringFor(taskId: string, peer: Peer): Peer {
  return {
    ...peer,
    async ask(question, withdrawn, ticket) {
      const reply = await peer.ask(question, withdrawn, ticket);
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

/** The tools that are run as tasks alone. A list that cannot be read says nothing of any. */
async function read(sender: Sender, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const call = { method: "tools/list", params };
    const reply = await sender.request({ call, peer: NOBODY, signal });
    if ("error" in reply) break;
    const { tools, nextCursor } = reply.result;
    for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
      if (isObject(tool) && isTaskOnly(tool)) names.add(String(tool["name"]));
    }
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return names;
}

function isTaskOnly({ execution }: JsonObject): boolean {
  return isObject(execution) && execution["taskSupport"] === "required";
}

async function end(sender: Sender, peer: Peer, taskId: string): Promise<void> {
  const call = { method: "tasks/cancel", params: { taskId } };
  const { signal } = new AbortController();
  await sender.request({ call, peer, signal }).catch(() => undefined); // it is gone, or over
}
