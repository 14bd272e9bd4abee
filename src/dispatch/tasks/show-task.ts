/**
 * Translates the messages about a task: they get the id that the receiver knows, and lose the members
 * that a task does not have. Tasks have no `requestState`, and the server's own id in `_meta`, as tasks
 * of 2025-11-25 have it, would repeat the task's id.
 */

import type { Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { withoutOlderTasks } from "../../protocol/revisions/reserved-meta.ts";
import { attributed, attributedInputRequests } from "../../endpoint/attribution.ts";

/**
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
export function hearingNoTasks(peer: Peer): Peer {
  return {
    ...peer,
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
