/** The replies to a modern client whose request ran at a legacy server, in the form of 2026-07-28. */

import { Meta } from "../../protocol/envelope.ts";
import {
  type ErrorObject,
  errorReply,
  isObject,
  type JsonObject,
  type Reply,
} from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { askModernClient, pagesToVisit } from "../../protocol/revisions/ask-modern-client.ts";
import { toModernError } from "../../protocol/revisions/errors.ts";
import { toModernResult } from "../../protocol/revisions/to-modern-result.ts";
import type { Questions } from "./open-questions.ts";
import { MAX_PAGES, writeState } from "./bridge-state.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { hasTools, modeOf } from "../../protocol/revisions/client-abilities.ts";

const SHOWN = ["name", "version", "title", "websiteUrl"] as const;
const MAX_SHOWN_CHARS = 256;

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

/**
 * The part of a server's own description that each of its results carries: its name, and not its
 * icons, which may be whole images. `server/discover` has all of it.
 *
 * @returns `undefined` for a server without a name and a version that can be shown.
 */
export function shownInfo(serverInfo: unknown): JsonObject | undefined {
  if (!isObject(serverInfo)) return undefined;
  const shown: Record<string, string> = {};
  for (const member of SHOWN) {
    const text = serverInfo[member];
    if (typeof text === "string" && text.length <= MAX_SHOWN_CHARS) shown[member] = text;
  }
  return shown["name"] === undefined || shown["version"] === undefined ? undefined : shown;
}

/**
 * The error for a client that repeats a request with fewer capabilities than when its questions were put
 * together (2026-07-28, -32021: MUST list the capabilities).
 */
export function undeclared(questions: Questions): Reply {
  const requiredCapabilities: Record<string, JsonObject> = {};
  for (const question of Object.values(questions)) {
    for (const [name, parts] of Object.entries(neededBy(question))) {
      requiredCapabilities[name] = { ...requiredCapabilities[name], ...parts };
    }
  }
  const sentence =
    "The questions of this request need capabilities that this client has not declared";
  return errorReply(ErrorCode.MissingRequiredClientCapability, sentence, { requiredCapabilities });
}

function neededBy({ method, params = {} }: Call): Readonly<Record<string, JsonObject>> {
  switch (method) {
    case "elicitation/create":
      return { elicitation: { [String(modeOf(params))]: {} } };
    case "sampling/createMessage":
      return { sampling: hasTools(params) ? { tools: {} } : {} };
    case "roots/list":
      return { roots: {} };
    default:
      return {};
  }
}
