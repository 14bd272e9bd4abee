/**
 * What is said of a task, as it crosses: under the id that its reader knows, and without what has no
 * place beside a task. There is no state in the flow of a task, and an id of the server's own in
 * `_meta`, as tasks of 2025-11-25 have it, would say again what the task says of itself.
 */

import type { Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { withoutOlderTasks } from "../../protocol/revisions/reserved-meta.ts";
import { attributed } from "../../endpoint/attribution.ts";
import { namingInputRequests } from "../guard/asker.ts";

/**
 * @param task a result that is a task, or acknowledges something of one.
 * @param taskId as the client knows it.
 * @param asker the server, where several could ask.
 */
export function showTask(task: JsonObject, taskId: string, asker: string | undefined): JsonObject {
  const { requestState: _, ...rest } = withoutOlderTasks(task);
  const named = asker === undefined ? rest : namingInputRequests(rest, asker);
  const { inputRequests, result } = named;
  return {
    ...named,
    ...("taskId" in named ? { taskId } : {}),
    ...(isObject(result) ? { result: shownResult(result, asker) } : {}),
    ...(isObject(inputRequests) ? { inputRequests: mapValues(inputRequests, showQuestion) } : {}),
  };
}

/** What the call came to. */
function shownResult(result: JsonObject, asker: string | undefined): JsonObject {
  const shown = withoutOlderTasks(result);
  return asker === undefined ? shown : attributed(shown, asker);
}

function showQuestion(question: JsonObject): JsonObject {
  const { params } = question;
  return isObject(params) ? { ...question, params: withoutOlderTasks(params) } : question;
}

/** The answers of a client, for the server. */
export function withPlainAnswers(params: JsonObject): JsonObject {
  const { inputResponses } = params;
  if (!isObject(inputResponses)) return params;
  return { ...params, inputResponses: mapValues(inputResponses, withoutOlderTasks) };
}

/** A client that hears of no task but by asking for it. */
export function hearingNoTasks(peer: Peer): Peer {
  return {
    ...peer,
    notify: ({ method, params }, ticket) =>
      peer.notify(
        params === undefined ? { method } : { method, params: withoutOlderTasks(params) },
        ticket,
      ),
  };
}

/** What is no object is somebody's mistake, for its reader to judge. */
function mapValues(values: JsonObject, map: (value: JsonObject) => JsonObject): JsonObject {
  const mapped = Object.entries(values).map(([key, value]) => [
    key,
    isObject(value) ? map(value) : value,
  ]);
  return Object.fromEntries(mapped);
}
