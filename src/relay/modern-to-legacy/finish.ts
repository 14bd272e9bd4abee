/** Translates the reply of a legacy server to 2026-07-28. */

import { Meta } from "../../protocol/envelope.ts";
import type { ErrorObject, JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { askModernClient, pagesToVisit } from "../../protocol/revisions/ask-modern-client.ts";
import { toModernError } from "../../protocol/revisions/errors.ts";
import { toModernResult } from "../../protocol/revisions/to-modern-result.ts";
import type { Questions } from "./open-questions.ts";
import { MAX_PAGES, writeState } from "./bridge-state.ts";

export interface Finishing {
  readonly method: string;
  /** Of the resource that was to be read. */
  readonly uri?: unknown;
  readonly digest: string;
  /** The client's capabilities: the questions that it can be asked. */
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
}

/** The key of a page that is to be visited. */
export function pageKey(index: number): string {
  return `r${index + 1}`;
}

export function finish(reply: Reply, about: Finishing): Reply {
  const { method, uri, serverInfo } = about;
  if ("result" in reply) return { result: toModernResult(method, reply.result, serverInfo) };
  const visits = mayHaveRounds(method) ? visitsFor(reply.error, about) : undefined;
  if (visits === undefined) return { ...reply, error: toModernError(method, reply.error, uri) };
  const pages = Object.keys(visits).length;
  // The server keeps no state of the call: once the pages were visited, it is called again.
  const state = writeState({ kind: "again", pages, digest: about.digest });
  return inputRequired(visits, state, serverInfo);
}

/** @returns `undefined` when the client cannot be sent to all of the pages, or they are too many. */
function visitsFor(error: ErrorObject, { capabilities }: Finishing): Questions | undefined {
  const listed = pagesToVisit(error) ?? [];
  if (listed.length > MAX_PAGES) return undefined;
  const pages = listed.map((page) => askModernClient(page, capabilities));
  const questions: [string, Questions[string]][] = [];
  for (const [index, page] of pages.entries()) {
    if (page.kind === "unsupported") return undefined;
    questions.push([pageKey(index), page.call]);
  }
  return questions.length === 0 ? undefined : Object.fromEntries(questions);
}

/** @param serverInfo every result names its server (2026-07-28, basic: SHOULD). */
export function inputRequired(
  questions: Questions,
  requestState: string,
  serverInfo: JsonObject | undefined,
): Reply {
  const named = serverInfo === undefined ? {} : { _meta: { [Meta.serverInfo]: serverInfo } };
  return {
    result: {
      resultType: "input_required",
      inputRequests: questions,
      requestState,
      ...named,
    },
  };
}
