/** Keys of `_meta` that belong to one wire, and have no meaning, or another one, on the other. */

import { Meta, metaOf, withMeta } from "../envelope.ts";
import { isObject, type JsonObject, type Reply } from "../json-rpc.ts";

/** The keys of the envelope of 2026-07-28, in requests, results and notifications. */
const ENVELOPE: ReadonlySet<string> = new Set(Object.values(Meta));
const RELATED_TASK = "io.modelcontextprotocol/related-task";
/** The keys of the tasks of 2025-11-25, which no other revision has. */
const TASKS: ReadonlySet<string> = new Set([
  RELATED_TASK,
  "io.modelcontextprotocol/model-immediate-response",
]);

/** The same params or result without the envelope; everything else in `_meta` stays. */
export function withoutEnvelope(value: JsonObject): JsonObject {
  return without(value, (key) => ENVELOPE.has(key));
}

/** Removes the envelope and the keys of the tasks of 2025-11-25. */
export function withoutEnvelopeAndTasks(value: JsonObject): JsonObject {
  return without(value, (key) => ENVELOPE.has(key) || TASKS.has(key));
}

/** Removes only the keys of the tasks of 2025-11-25. */
export function withoutOlderTasks(value: JsonObject): JsonObject {
  return without(value, (key) => TASKS.has(key));
}

/** Answers in a task MUST name it (2025-11-25, tasks), which clients without such tasks do not do. */
export function namingTask(taskId: string, reply: Reply): Reply {
  if ("error" in reply) return reply;
  const { result } = reply;
  return { result: withMeta(result, { [RELATED_TASK]: { taskId }, ...metaOf(result) }) };
}

/** True for params or a result that belong to a task, and say so (2025-11-25, tasks: related task). */
export function namesTask(value: JsonObject | undefined): value is JsonObject {
  return Object.hasOwn(metaOf(value), RELATED_TASK);
}

/** @returns the id of that task, which its sender may have got wrong. */
export function relatedTaskIn(value: JsonObject | undefined): unknown {
  const related = metaOf(value)[RELATED_TASK];
  return isObject(related) ? related["taskId"] : undefined;
}

/** The same params or result of the task of another id; with `undefined`, of none. */
export function withRelatedTask(value: JsonObject, taskId: string | undefined): JsonObject {
  if (taskId === undefined) return without(value, (key) => key === RELATED_TASK);
  const meta = metaOf(value);
  const related = meta[RELATED_TASK];
  const named = { ...(isObject(related) ? related : {}), taskId };
  return withMeta(value, { ...meta, [RELATED_TASK]: named });
}

/** Questions in a result have no progress notifications. */
export function withoutProgressToken(value: JsonObject): JsonObject {
  return without(value, (key) => key === "progressToken");
}

function without(value: JsonObject, isReserved: (key: string) => boolean): JsonObject {
  const meta = Object.entries(metaOf(value));
  const kept = meta.filter(([key]) => !isReserved(key));
  return kept.length === meta.length ? value : withMeta(value, Object.fromEntries(kept));
}
