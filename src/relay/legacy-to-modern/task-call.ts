/**
 * A call that its modern server runs as a task (the extension for tasks), completed for a client
 * without tasks: the task is polled, its questions are put to the client, and its result is that of
 * the call. When the call ends before its task, the task is cancelled. The call is never sent again;
 * the requests sent here are harmless when repeated.
 */

import { isJsonNumber, nearest } from "../../lib/lossless-json.ts";
import { retry } from "../../lib/retry.ts";
import { sleep } from "../../lib/sleep.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import {
  type ErrorObject,
  isObject,
  type JsonObject,
  readError,
  type Reply,
} from "../../protocol/json-rpc.ts";
import type { Result } from "../../protocol/message-members.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { isTaskId } from "../../protocol/tasks-extension.ts";
import type { DeclaringClient } from "../../protocol/revisions/translate-capabilities.ts";
import { causeOf, UpstreamError, type UpstreamFailure } from "../../upstream/upstream-error.ts";
import { askClient } from "./ask-client.ts";
import { stuck } from "./failures.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { withoutOlderTasks } from "../../protocol/revisions/reserved-meta.ts";

/** The only method that becomes a task. */
const METHOD = "tools/call";
const POLL_MS = { least: 100, unsaid: 2000, most: 60_000 };
/** After this time a task is given up. */
const MAX_POLLED_MS = 3_600_000;
/** The same number as for a call without a task. */
const MAX_ROUNDS = 8;
/** Of one request; the pauses between them come to some eight seconds in all. */
const RETRIES = { attempts: 6, backoff: { firstMs: 250 }, isTransient };
/** After these failures the task may still run. */
const TRANSIENT: ReadonlySet<UpstreamFailure> = new Set<UpstreamFailure>([
  "timeout",
  "lost",
  "unreachable",
  "overloaded",
]);

function isTransient(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && TRANSIENT.has(error.failure);
}

/** An account that has ended meanwhile does not mean that the call did not run. */
function isUnanswered(error: unknown): error is UpstreamError {
  return isTransient(error) || (error instanceof UpstreamError && error.failure === "account");
}

export interface TaskCallOptions {
  readonly slug: string;
  readonly client: DeclaringClient;
  /** Asks the client. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
  /** Sends one request for which the extension is declared. */
  readonly send: (call: Call, signal: AbortSignal) => Promise<Reply>;
}

/**
 * Waits for the end of the task where a call was answered with one. The call has declared the
 * extension.
 *
 * @param made the server's reply to the call.
 * @throws UpstreamError when the end cannot be known; the reason of the signal.
 */
export async function finishTask(made: Reply, options: TaskCallOptions): Promise<Reply> {
  if ("error" in made) return made;
  const task = completeModernResult(METHOD, made.result, true);
  if (task?.resultType !== "task") return made;
  const { taskId } = task;
  if (!isTaskId(taskId)) {
    throw new UpstreamError(
      options.slug,
      "malformed",
      "made a task without an id that can be used",
    );
  }
  return new TaskCall(taskId, options).finish(task);
}

class TaskCall {
  readonly #taskId: string;
  readonly #options: TaskCallOptions;
  /** A key is one question in all the life of a task (MUST), and may be listed after its answer. */
  readonly #asked = new Set<string>();
  #rounds = 0;
  #isOver = false;

  constructor(taskId: string, options: TaskCallOptions) {
    this.#taskId = taskId;
    this.#options = options;
  }

  /** @param made the task as it was made, which has neither its questions nor its result. */
  async finish(made: Result): Promise<Reply> {
    try {
      return await this.#follow(made.status === "working" ? pollPauseOf(made) : 0);
    } finally {
      if (!this.#isOver) void this.#cancel();
    }
  }

  async #follow(firstPauseMs: number): Promise<Reply> {
    const { slug, signal } = this.#options;
    const until = Date.now() + MAX_POLLED_MS;
    let problem: Reply | undefined;
    for (let pause = firstPauseMs; ;) {
      await sleep(pause, signal);
      if (Date.now() > until) {
        throw this.#failure("lost", "has not ended the task that this call is run as in an hour");
      }
      const reading = readTask(slug, await this.#send("tasks/get", {}));
      if (reading.kind === "over") {
        this.#isOver = true;
        return reading.reply;
      }
      if (problem !== undefined) return problem;
      const { task } = reading;
      pause = pollPauseOf(task);
      const unasked = this.#unasked(task);
      if (unasked.length === 0) continue;
      const asked = await this.#ask(Object.fromEntries(unasked));
      if ("problem" in asked) return asked.problem;
      const reply = await this.#send("tasks/update", { inputResponses: asked.inputResponses });
      if (!("error" in reply)) continue;
      // The task may have ended while the client was asked: then its end counts.
      problem = this.#stuck(`did not take this client's answers (error ${reply.error.code})`);
      pause = 0;
    }
  }

  #unasked({ status, inputRequests = {} }: JsonObject): readonly (readonly [string, unknown])[] {
    if (status !== "input_required") return [];
    if (!isObject(inputRequests)) {
      throw this.#failure("malformed", "asks for input in a way that its revision forbids");
    }
    return Object.entries(inputRequests).filter(([key]) => !this.#asked.has(key));
  }

  async #ask(
    inputRequests: JsonObject,
  ): Promise<{ readonly inputResponses: JsonObject } | { readonly problem: Reply }> {
    const { client, peer, signal } = this.#options;
    if (this.#rounds === MAX_ROUNDS) {
      return { problem: this.#stuck(`still asks for more after ${MAX_ROUNDS} rounds`) };
    }
    this.#rounds += 1;
    for (const key of Object.keys(inputRequests)) this.#asked.add(key);
    const asked = await askClient(inputRequests, client, peer, signal);
    signal.throwIfAborted();
    return asked.kind === "failed" ? { problem: this.#stuck(asked.sentence) } : asked;
  }

  /** Repeats a request after a transient failure: it has no effect, or has it only once. */
  async #send(method: string, params: JsonObject): Promise<Reply> {
    const { send, signal } = this.#options;
    const call = { method, params: { ...params, taskId: this.#taskId } };
    try {
      return await retry(() => send(call, signal), { ...RETRIES, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw isUnanswered(error) ? this.#lost(error) : error;
    }
  }

  /** A server that cannot be reached now may have run the call, so its outcome is unknown. */
  #lost(error: UpstreamError): UpstreamError {
    const sentence = "could not be asked after the task of this call; its result is unknown";
    return new UpstreamError(this.#options.slug, "lost", sentence, { connection: causeOf(error) });
  }

  /** The acknowledgement is not waited for. */
  async #cancel(): Promise<void> {
    const call = { method: "tasks/cancel", params: { taskId: this.#taskId } };
    const { signal } = new AbortController();
    await this.#options.send(call, signal).catch(() => undefined); // the server is gone, or the task is over
  }

  #stuck(sentence: string): Reply {
    return stuck(this.#options.slug, METHOD, sentence);
  }

  #failure(failure: UpstreamFailure, sentence: string): UpstreamError {
    return new UpstreamError(this.#options.slug, failure, sentence);
  }
}

type TaskReading =
  /** The reply to the call. */
  | { readonly kind: "over"; readonly reply: Reply }
  | { readonly kind: "on"; readonly task: JsonObject };

/**
 * Reads the server's reply on the task.
 *
 * @param reply to `tasks/get`.
 * @throws UpstreamError `malformed` when the reply has no valid state of the task.
 */
function readTask(slug: string, reply: Reply): TaskReading {
  if ("error" in reply) return over(withoutTask(slug, reply.error.code));
  const task = completeModernResult("tasks/get", reply.result);
  switch (task?.status) {
    case "working":
    case "input_required":
      return { kind: "on", task };
    case "completed":
      return over({ result: resultOf(slug, task) });
    case "failed":
      return over({ error: errorOf(slug, task) });
    case "cancelled":
      return over(stuck(slug, METHOD, "cancelled the task that this call was run as"));
    default:
      throw malformed(slug, "answered tasks/get with something that is no task");
  }
}

/** @returns the pause before the next poll, in milliseconds; it may change in the life of a task. */
function pollPauseOf({ pollIntervalMs }: JsonObject): number {
  const ms = isJsonNumber(pollIntervalMs) ? nearest(pollIntervalMs) : POLL_MS.unsaid;
  return Math.min(Math.max(ms, POLL_MS.least), POLL_MS.most);
}

/** A server MUST answer with -32602 for a task that it does not know, or not any more. */
function withoutTask(slug: string, code: number): Reply {
  if (code === ErrorCode.InvalidParams) {
    return stuck(slug, METHOD, "no longer knows the task of this call; its result is unknown");
  }
  throw malformed(slug, `answered tasks/get with error ${code}; the call's result is unknown`);
}

function errorOf(slug: string, { error }: JsonObject): ErrorObject {
  const read = readError(error);
  if (read === undefined) throw malformed(slug, "failed a task without an error");
  return read;
}

function resultOf(slug: string, { result }: JsonObject): JsonObject {
  const whole = isObject(result) ? completeModernResult(METHOD, result) : undefined;
  // An input_required result would be taken for a round of the call, which would be made again.
  if (whole?.resultType !== "complete") {
    throw malformed(slug, "completed a task without a result of its call");
  }
  return withoutOlderTasks(whole);
}

function malformed(slug: string, sentence: string): UpstreamError {
  return new UpstreamError(slug, "malformed", sentence);
}

function over(reply: Reply): TaskReading {
  return { kind: "over", reply };
}
