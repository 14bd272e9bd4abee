// The tasks of one fixture (the extension io.modelcontextprotocol/tasks): what each of them is at,
// kept in memory until some minutes after it began. The fixture has no users, so an id, which nobody
// can guess, is all that it takes to see a task.

import { randomUUID } from "node:crypto";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, InputRequest, JSONObject } from "@modelcontextprotocol/server";

const TTL_MS = 300_000;
const POLL_INTERVAL_MS = 100;

/** What the work of a task can do beside working. */
export interface Job {
  readonly signal: AbortSignal;
  /** Asks the client, and waits for its answer. A key is used once in the life of a task. */
  ask(key: string, question: InputRequest): Promise<unknown>;
}

export type Work = (job: Job) => Promise<CallToolResult>;

type End =
  | { readonly status: "completed"; readonly result: CallToolResult }
  | { readonly status: "failed"; readonly statusMessage: string; readonly error: JSONObject }
  | { readonly status: "cancelled" };

interface Question {
  readonly request: InputRequest;
  readonly answer: (response: unknown) => void;
}

class Task {
  readonly id = randomUUID();
  readonly createdAt = new Date();
  readonly #abort = new AbortController();
  readonly #questions = new Map<string, Question>();
  #lastUpdatedAt = this.createdAt;
  #end: End | undefined;

  constructor(work: Work) {
    const job: Job = {
      signal: this.#abort.signal,
      ask: (key, request) =>
        new Promise((answer) => {
          this.#questions.set(key, { request, answer });
          this.#touch();
        }),
    };
    // What comes after a cancellation is not waited for.
    work(job).then(
      (result) => this.#finish({ status: "completed", result }),
      (error: unknown) => this.#finish(failed(error)),
    );
  }

  /** The members of a task; those that its status brings are in `describe`. */
  seed(): JSONObject {
    const status = this.#end?.status ?? (this.#questions.size > 0 ? "input_required" : "working");
    return {
      taskId: this.id,
      status,
      createdAt: this.createdAt.toISOString(),
      lastUpdatedAt: this.#lastUpdatedAt.toISOString(),
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_INTERVAL_MS,
    };
  }

  describe(): object {
    const seed = this.seed();
    if (this.#end !== undefined) return { ...seed, ...this.#end };
    if (this.#questions.size === 0) return seed;
    const asked = [...this.#questions].map(([key, { request }]) => [key, request]);
    return { ...seed, inputRequests: Object.fromEntries(asked) };
  }

  /** Some of the answers may be missing, and some may belong to an unknown question. */
  answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, response] of Object.entries(responses)) {
      const question = this.#questions.get(key);
      this.#questions.delete(key);
      question?.answer(response);
    }
    this.#touch();
  }

  cancel(): void {
    this.#finish({ status: "cancelled" });
    this.#abort.abort();
  }

  #finish(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#questions.clear();
    this.#touch();
  }

  #touch(): void {
    this.#lastUpdatedAt = new Date();
  }
}

/** Only a JSON-RPC error fails a task: a tool that fails has a result that says so. */
function failed(error: unknown): End {
  const { code, message } =
    error instanceof ProtocolError
      ? error
      : new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
  return { status: "failed", statusMessage: message, error: { code, message } };
}

export class TaskStore {
  readonly #tasks = new Map<string, Task>();

  begin(work: Work): Task {
    this.#sweep();
    const task = new Task(work);
    this.#tasks.set(task.id, task);
    return task;
  }

  find(id: string): Task {
    this.#sweep();
    const task = this.#tasks.get(id);
    if (task !== undefined) return task;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown or expired task");
  }

  #sweep(): void {
    for (const [id, { createdAt }] of this.#tasks) {
      if (Date.now() - createdAt.getTime() > TTL_MS) this.#tasks.delete(id);
    }
  }
}
