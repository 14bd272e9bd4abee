/** Reads a modern server's reply on the task that a call is run as (the extension for tasks). */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { isErrorObject, isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { withoutOlderTasks } from "../../protocol/revisions/reserved-meta.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { stuck } from "./failures.ts";

const METHOD = "tools/call";
const POLL_MS = { least: 100, unsaid: 2000, most: 60_000 };

export type TaskReading =
  /** The reply to the call. */
  | { readonly kind: "over"; readonly reply: Reply }
  | { readonly kind: "on"; readonly task: JsonObject };

/**
 * @param reply to `tasks/get`.
 * @throws UpstreamError `malformed` when the reply has no valid state of the task.
 */
export function readTask(slug: string, reply: Reply): TaskReading {
  if ("error" in reply) return over(withoutTask(slug, reply.error.code));
  const task = completeModernResult("tasks/get", reply.result);
  switch (task?.["status"]) {
    case "working":
    case "input_required":
      return { kind: "on", task };
    case "completed":
      return over({ result: resultOf(slug, task) });
    case "failed":
      if (!isErrorObject(task["error"])) throw malformed(slug, "failed a task without an error");
      return over({ error: task["error"] });
    case "cancelled":
      return over(stuck(slug, METHOD, "cancelled the task that this call was run as"));
    default:
      throw malformed(slug, "answered tasks/get with something that is no task");
  }
}

/** @returns the pause before the next poll, in milliseconds; it may change in the life of a task. */
export function pollPauseOf({ pollIntervalMs }: JsonObject): number {
  const ms = typeof pollIntervalMs === "number" ? pollIntervalMs : POLL_MS.unsaid;
  return Math.min(Math.max(ms, POLL_MS.least), POLL_MS.most);
}

/** A server MUST answer with -32602 for a task that it does not know, or not any more. */
function withoutTask(slug: string, code: number): Reply {
  if (code === ErrorCode.InvalidParams) {
    return stuck(slug, METHOD, "no longer knows the task of this call; its result is unknown");
  }
  throw malformed(slug, `answered tasks/get with error ${code}; the call's result is unknown`);
}

function resultOf(slug: string, { result }: JsonObject): JsonObject {
  const whole = isObject(result) ? completeModernResult(METHOD, result) : undefined;
  // An input_required result would be taken for a round of the call, which would be made again.
  if (whole?.["resultType"] !== "complete") {
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
