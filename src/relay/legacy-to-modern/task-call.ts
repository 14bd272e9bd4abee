/**
 * A call that its modern server runs as a task (the extension for tasks), brought to its end for a
 * client that knows of none: the task is polled, what it asks is put to the client, and its result is
 * that of the call. A task that nobody waits for any more is cancelled. The call is never made again:
 * what is sent here may be sent twice without harm.
 */

import { sleep } from "../../lib/sleep.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { isTaskId } from "../../protocol/tasks-extension.ts";
import type { DeclaringClient } from "../../protocol/revisions/translate-capabilities.ts";
import { UpstreamError, type UpstreamFailure } from "../../upstream/upstream-error.ts";
import { askClient } from "./ask-client.ts";
import { stuck } from "./failures.ts";
import { pollPauseOf, readTask } from "./read-task.ts";

/** Nothing else becomes a task. */
const METHOD = "tools/call";
/** After this, a task is nobody's call any more. */
const MAX_POLLED_MS = 3_600_000;
/** As often as without a task. */
const MAX_ROUNDS = 8;
/** Of one request; the pauses between them grow, to some eight seconds in all. */
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 250;
/** The task may run on. */
const TRANSIENT: ReadonlySet<UpstreamFailure> = new Set([
  ...(["timeout", "lost", "unreachable", "overloaded"] as const),
]);

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
 * Waits for the end of a task, where that is what a call was answered with: the call had declared the
 * extension, or no answer is taken for one.
 *
 * @param made what the server has answered.
 * @throws UpstreamError when the end cannot be known; the reason of the signal.
 */
export async function finishTask(made: Reply, options: TaskCallOptions): Promise<Reply> {
  if ("error" in made) return made;
  const task = completeModernResult(METHOD, made.result, true);
  if (task?.["resultType"] !== "task") return made;
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
  /** A key is one question in all the life of a task (MUST), and may be shown after its answer came. */
  readonly #asked = new Set<string>();
  #rounds = 0;
  #isOver = false;

  constructor(taskId: string, options: TaskCallOptions) {
    this.#taskId = taskId;
    this.#options = options;
  }

  /** @param made the task as it was made: what it asks, or came to, is not said there. */
  async finish(made: JsonObject): Promise<Reply> {
    try {
      return await this.#follow(made["status"] === "working" ? pollPauseOf(made) : 0);
    } finally {
      if (!this.#isOver) void this.#cancel();
    }
  }

  async #follow(firstPauseMs: number): Promise<Reply> {
    const { slug, signal } = this.#options;
    const until = Date.now() + MAX_POLLED_MS;
    let problem: Reply | undefined;
    for (let pauseMs = firstPauseMs; ;) {
      await sleep(pauseMs, signal);
      if (Date.now() > until) {
        throw this.#failure("lost", "has not ended the task that this call is run as in an hour");
      }
      const heard = readTask(slug, await this.#send("tasks/get", {}));
      if (heard.kind === "over") {
        this.#isOver = true;
        return heard.reply;
      }
      if (problem !== undefined) return problem;
      const { task } = heard;
      pauseMs = pollPauseOf(task);
      const wanted = this.#unasked(task);
      if (wanted.length === 0) continue;
      const asked = await this.#ask(Object.fromEntries(wanted));
      if ("problem" in asked) return asked.problem;
      const reply = await this.#send("tasks/update", { inputResponses: asked.inputResponses });
      if (!("error" in reply)) continue;
      // It may have ended while the client was asked: then that is what counts.
      problem = this.#stuck(`did not take this client's answers (error ${reply.error.code})`);
      pauseMs = 0;
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
    wanted: JsonObject,
  ): Promise<{ readonly inputResponses: JsonObject } | { readonly problem: Reply }> {
    const { client, peer, signal } = this.#options;
    if (this.#rounds === MAX_ROUNDS) {
      return { problem: this.#stuck(`still asks for more after ${MAX_ROUNDS} rounds`) };
    }
    this.#rounds += 1;
    for (const key of Object.keys(wanted)) this.#asked.add(key);
    const asked = await askClient(wanted, client, peer, signal);
    signal.throwIfAborted();
    return asked.kind === "failed" ? { problem: this.#stuck(asked.sentence) } : asked;
  }

  /** Tries again what a passing failure has broken: it changes nothing, or nothing more than once. */
  async #send(method: string, params: JsonObject): Promise<Reply> {
    const { send, signal } = this.#options;
    const call = { method, params: { ...params, taskId: this.#taskId } };
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call, signal);
      } catch (error) {
        if (!(error instanceof UpstreamError && TRANSIENT.has(error.failure))) throw error;
        if (attempt === ATTEMPTS) throw this.#lost(error);
        await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
      }
    }
  }

  /** That the server cannot be reached now does not say that the call did not run. */
  #lost(cause: UpstreamError): UpstreamError {
    const sentence = "could not be asked after the task of this call; its result is unknown";
    return new UpstreamError(this.#options.slug, "lost", sentence, { cause });
  }

  /** Nobody waits for the acknowledgement. */
  async #cancel(): Promise<void> {
    const call = { method: "tasks/cancel", params: { taskId: this.#taskId } };
    const { signal } = new AbortController();
    await this.#options.send(call, signal).catch(() => undefined); // it is gone, or over
  }

  #stuck(sentence: string): Reply {
    return stuck(this.#options.slug, METHOD, sentence);
  }

  #failure(failure: UpstreamFailure, sentence: string): UpstreamError {
    return new UpstreamError(this.#options.slug, failure, sentence);
  }
}
