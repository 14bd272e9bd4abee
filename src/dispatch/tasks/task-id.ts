/**
 * The ids of tasks on their way through a client: the gateway's own, sealed, so that a task is found
 * again at the server that has it, by whoever it was given to, where it was given, and by nobody else
 * (the extension for tasks, security). Nothing is kept, and how long a task lasts is the server's to
 * say. Sealed twice it is two texts, so a client is answered with the id that it used.
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

/** @returns `undefined` for what was not given to this client at this endpoint. */
export async function openTaskId(holder: Holder, sealed: unknown): Promise<TaskPlace | undefined> {
  const opened = typeof sealed === "string" ? await unsealFor(holder, "task", sealed) : undefined;
  if (!isObject(opened)) return undefined;
  const { s: slug, t: taskId } = opened;
  return typeof slug === "string" && isTaskId(taskId) ? { slug, taskId } : undefined;
}
