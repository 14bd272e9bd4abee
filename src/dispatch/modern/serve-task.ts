/**
 * Serves a client's requests for a task: `tasks/get`, `tasks/update`, `tasks/cancel`. Each goes to the
 * task's server, under the server's own id. The gateway's id names the server, and only the client that
 * got the task can use it.
 */

import type { Reply } from "../../protocol/json-rpc.ts";
import { declaresTasks, lacksTasks } from "../../protocol/tasks-extension.ts";
import { loggedForAll } from "../guard/logged.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import { openTaskId, unknownTask } from "../../endpoint/task-id.ts";
import { askerOf, showTask, withPlainAnswers } from "./client-task.ts";
import { relayTo } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

export async function serveTask(requestContext: RequestContext): Promise<Reply> {
  const { context, inbound, peer } = requestContext;
  const { message, envelope } = inbound;
  const { method, params = {} } = message;
  const refuse = (reply: Reply): Promise<Reply> =>
    loggedForAll(context, peer.span, message, () => Promise.resolve(reply));
  // This check comes before the id: a client without the extension has no tasks.
  if (!declaresTasks(envelope.clientCapabilities)) return refuse(lacksTasks());
  const { taskId: sent } = params;
  const place = await openTaskId(context, "task", sent);
  const server = place && serverOf(context.endpoint, place.slug);
  if (typeof sent !== "string" || place === undefined || server === undefined) {
    return refuse(unknownTask());
  }
  const own = { ...withPlainAnswers(params), taskId: place.taskId };
  const reply = await relayTo(requestContext, server, { method, params: own });
  if ("error" in reply) return reply;
  return { result: showTask(reply.result, sent, askerOf(requestContext, server)) };
}
