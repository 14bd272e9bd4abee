/**
 * A task of a modern server, as its client knows it (the extension for tasks). The client gets a sealed
 * id (`endpoint/task-id.ts`). Each sealing gives another text, so replies repeat the id that the client used.
 *
 * Tasks have no `requestState`, and the server's own id in `_meta`, as tasks of 2025-11-25 have it, would
 * repeat the task's id: both are removed.
 */

import { isTaskId } from "../../protocol/tasks-extension.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { sealTaskId } from "../../endpoint/task-id.ts";
import { forwardingTo, type Peer } from "../../protocol/exchange.ts";
import { withoutOlderTasks } from "../../protocol/revisions/reserved-meta.ts";
import { attributed, attributedInputRequests } from "../../endpoint/attribution.ts";
import { failureReply, UpstreamError } from "../../upstream/upstream-error.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

/**
 * A message about the task, with the id that the client knows.
 *
 * @param task a result that is a task, or acknowledges a request for one.
 * @param taskId the id that the client knows.
 * @param asker the server's slug, if the endpoint has several.
 */
export function showTask(task: JsonObject, taskId: string, asker: string | undefined): JsonObject {
  const { requestState: _, ...rest } = withoutOlderTasks(task);
  const named = asker === undefined ? rest : attributedInputRequests(rest, asker);
  const { inputRequests, result } = named;
  return {
    ...named,
    ...("taskId" in named ? { taskId } : {}),
    ...(isObject(result) ? { result: shownResult(result, asker) } : {}),
    ...(isObject(inputRequests) ? { inputRequests: mapValues(inputRequests, showQuestion) } : {}),
  };
}

/** The result of the call that became the task. */
function shownResult(result: JsonObject, asker: string | undefined): JsonObject {
  const shown = withoutOlderTasks(result);
  return asker === undefined ? shown : attributed(shown, asker);
}

function showQuestion(question: JsonObject): JsonObject {
  const { params } = question;
  return isObject(params) ? { ...question, params: withoutOlderTasks(params) } : question;
}

/** Removes the keys of older tasks from a client's answers. */
export function withPlainAnswers(params: JsonObject): JsonObject {
  const { inputResponses } = params;
  if (!isObject(inputResponses)) return params;
  return { ...params, inputResponses: mapValues(inputResponses, withoutOlderTasks) };
}

/** Removes the keys of older tasks from notifications: a client learns of a task only by request. */
export function withoutTaskNotices(peer: Peer): Peer {
  return {
    ...forwardingTo(peer),
    notify: ({ method, params }, resumeToken) =>
      peer.notify(
        params === undefined ? { method } : { method, params: withoutOlderTasks(params) },
        resumeToken,
      ),
  };
}

/** A value that is no object is the sender's mistake, and stays unchanged. */
function mapValues(values: JsonObject, map: (value: JsonObject) => JsonObject): JsonObject {
  const mapped = Object.entries(values).map(([key, value]) => [
    key,
    isObject(value) ? map(value) : value,
  ]);
  return Object.fromEntries(mapped);
}

/**
 * Gives a client the task with which a server answered.
 *
 * @param task a result of the type `task`. The server has begun it, even if the client gets an error.
 */
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
  const sealed = await sealTaskId(requestContext.context, "task", { slug, taskId });
  return { result: showTask(task, sealed, askerOf(requestContext, server)) };
}

/** @returns the slug of the asking server, if the endpoint has several. */
export function askerOf({ context }: RequestContext, { slug }: Server): string | undefined {
  return context.endpoint.isMerged ? slug : undefined;
}
