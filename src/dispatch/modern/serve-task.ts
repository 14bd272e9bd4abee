/**
 * What a client says of a task: `tasks/get`, `tasks/update`, `tasks/cancel`. It goes to the server
 * whose task it is, under the server's own id; the gateway's says which server that is, and says it
 * to nobody but whoever the task was given to.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { declaresTasks, lacksTasks } from "../../protocol/tasks-extension.ts";
import { loggedForAll } from "../guard/logged.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import { showTask, withPlainAnswers } from "../tasks/show-task.ts";
import { openTaskId } from "../tasks/task-id.ts";
import { relayTo } from "./call-server.ts";
import { askerOf } from "./give-task.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

export async function serveTask(requestContext: RequestContext): Promise<Reply> {
  const { context, inbound } = requestContext;
  const { message, envelope } = inbound;
  const { method, params = {} } = message;
  const refuse = (reply: Reply): Promise<Reply> =>
    loggedForAll(context.principal, message, () => Promise.resolve(reply));
  // Before the id is looked at: who does not know of tasks has none.
  if (!declaresTasks(envelope.clientCapabilities)) return refuse(lacksTasks());
  const { taskId: sent } = params;
  const place = await openTaskId(context, sent);
  const server = place && serverOf(context.endpoint, place.slug);
  if (typeof sent !== "string" || place === undefined || server === undefined) {
    return refuse(unknownTask());
  }
  const own = { ...withPlainAnswers(params), taskId: place.taskId };
  const reply = await relayTo(requestContext, server, { method, params: own });
  if ("error" in reply) return reply;
  return { result: showTask(reply.result, sent, askerOf(requestContext, server)) };
}

/** Forged, foreign and forgotten get the same bytes (tasks, errors: MUST be this code). */
function unknownTask(): Reply {
  const message = "Unknown task: params.taskId was not given to this client at this endpoint";
  return errorReply(ErrorCode.InvalidParams, message);
}
