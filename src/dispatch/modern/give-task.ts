/** Gives a client the task with which a server answered, under an id of the gateway. */

import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { failureReply, UpstreamError } from "../../upstream/upstream-error.ts";
import type { Server } from "../../endpoint/server.ts";
import { showTask } from "../tasks/show-task.ts";
import { isTaskId } from "../../protocol/tasks-extension.ts";
import { sealTaskId } from "../tasks/task-id.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

/** @param task a result of the type `task`. The server has begun it, even if the client gets an error. */
export async function giveTask(
  requestContext: RequestContext,
  server: Server,
  task: JsonObject,
): Promise<Reply> {
  const { slug } = server;
  const { taskId } = task;
  if (!isTaskId(taskId)) {
    const sentence = "began a task under an id that cannot be used, so nobody will see its result";
    return failureReply(new UpstreamError(slug, "malformed", sentence), slug);
  }
  const sealed = await sealTaskId(requestContext.context, { slug, taskId });
  return { result: showTask(task, sealed, askerOf(requestContext, server)) };
}

/** @returns the slug of the asking server, if the endpoint has several. */
export function askerOf({ context }: RequestContext, { slug }: Server): string | undefined {
  return context.endpoint.isMerged ? slug : undefined;
}
