/**
 * Seals the ids of tasks for their way through a client. A sealed id has the server and its own id,
 * and only the client that got it can use it, at the same endpoint (the extension for tasks,
 * security). The gateway stores nothing, and the server decides how long a task lasts. Each sealing
 * gives another text, so replies repeat the id that the client used.
 */

import { isTaskId } from "../../protocol/tasks-extension.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import { sealFor, unsealFor } from "../../endpoint/sealed.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";

type Holder = Pick<RequestScope, "keys" | "principal" | "route">;

export interface TaskPlace {
  readonly slug: string;
  /** The server's own id. */
  readonly taskId: string;
}

export function sealTaskId(holder: Holder, { slug, taskId }: TaskPlace): Promise<string> {
  return sealFor(holder, "task", { s: slug, t: taskId });
}

/** @returns `undefined` for an id that was not given to this client at this endpoint. */
export async function openTaskId(holder: Holder, sealed: unknown): Promise<TaskPlace | undefined> {
  const opened = typeof sealed === "string" ? await unsealFor(holder, "task", sealed) : undefined;
  if (!isObject(opened)) return undefined;
  const { s: slug, t: taskId } = opened;
  return typeof slug === "string" && isTaskId(taskId) ? { slug, taskId } : undefined;
}
