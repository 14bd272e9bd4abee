/**
 * The id of a task as its client knows it. It is sealed, and has the server and the server's own id: only
 * the client that got it can use it, at the same endpoint (security). The gateway stores nothing for it,
 * and the server decides how long a task lasts. Each sealing gives another text.
 *
 * Tasks of 2025-11-25 and of the extension of 2026-07-28 do not cross, so their ids have purposes of their own.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import { errorReply, isObject, type Reply } from "../protocol/json-rpc.ts";
import { isTaskId } from "../protocol/tasks-extension.ts";
import { type SealScope, sealFor, unsealFor } from "./sealed.ts";

type TaskPurpose = "task" | "older-task";

export interface TaskPlace {
  readonly slug: string;
  /** The server's own id. */
  readonly taskId: string;
}

export function sealTaskId(
  scope: SealScope,
  purpose: TaskPurpose,
  { slug, taskId }: TaskPlace,
): Promise<string> {
  return sealFor(scope, purpose, { s: slug, t: taskId });
}

/** @returns `undefined` for an id that was not given to this client at this endpoint. */
export async function openTaskId(
  scope: SealScope,
  purpose: TaskPurpose,
  sealed: unknown,
): Promise<TaskPlace | undefined> {
  const opened = typeof sealed === "string" ? await unsealFor(scope, purpose, sealed) : undefined;
  if (!isObject(opened)) return undefined;
  const { s: slug, t: taskId } = opened;
  return typeof slug === "string" && isTaskId(taskId) ? { slug, taskId } : undefined;
}

/** Forged, foreign and forgotten ids get the same bytes (tasks, errors, in both revisions: this code). */
export function unknownTask(): Reply {
  const message = "Unknown task: params.taskId was not given to this client at this endpoint";
  return errorReply(ErrorCode.InvalidParams, message);
}
