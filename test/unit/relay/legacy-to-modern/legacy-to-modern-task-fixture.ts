/** A modern server that runs a tool as a task alone, and its answers about the task, one by one. */

import { vi } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import type { Answer, Seen } from "../../upstream/fake-target.ts";
import { CAPABILITIES_KEY, completing, DONE, failing, metaIn } from "./legacy-to-modern-fixture.ts";

export const TASKS = "io.modelcontextprotocol/tasks";
/** Nothing that a header could carry as it is. */
export const ID = "Aufgabe №1 = 任务";
const INTERVAL_MS = 300;
const SEED = { taskId: ID, status: "working", ttlMs: 60_000, pollIntervalMs: INTERVAL_MS };

/** Refuses a call that does not declare the extension. */
export const demanding = failing(
  {
    ...{ code: -32_021, message: "SECRET" },
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  },
  400,
);
export const acknowledging = completing({});
/** No connection. */
export const unreachable: Answer = () => {
  throw new TypeError("SECRET");
};

export function making(more: JsonObject = {}): Answer {
  return completing({ ...SEED, resultType: "task", ...more });
}

export function reporting(more: JsonObject = {}): Answer {
  return completing({ ...SEED, ...more });
}

export function done(result: unknown = DONE): Answer {
  return reporting({ status: "completed", result });
}

export function wanting(inputRequests: unknown): Answer {
  return reporting({ status: "input_required", inputRequests });
}

/** The answers of a server that makes a task of the call, and then these. */
export function inTask(...answers: readonly Answer[]): readonly Answer[] {
  return [demanding, making(), ...answers];
}

export function methodsOf(sent: readonly Seen[]): readonly unknown[] {
  return sent.map(({ body }) => body["method"]);
}

export function declaresTasks(seen: Seen): boolean {
  const capabilities = metaIn(seen)[CAPABILITIES_KEY] as { extensions?: JsonObject };
  return capabilities.extensions?.[TASKS] !== undefined;
}

const STEP_MS = 200;
const MAX_STEPS = 10_000;

/** Lets time pass until something is so. */
export async function passing(isSo: () => boolean): Promise<void> {
  for (let step = 0; !isSo(); step++) {
    if (step === MAX_STEPS) throw new Error("It does not come to be");
    await vi.advanceTimersByTimeAsync(STEP_MS);
  }
}

/** Lets time pass until a promise is settled. */
export async function ended<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  void promise.then(settle, settle);
  await passing(() => isSettled);
  return promise;
}
