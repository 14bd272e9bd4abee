/**
 * The answer to a request whose server first needs a person: to connect an account, or to allow more. Each
 * client gets it in its own way, by what it declared and never by its name.
 *
 * The text is for the person and for the model that reads it, with exactly one URL. No word of it comes from
 * the server.
 */

import type { ClientKind } from "../../endpoint/client-kind.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { eraOf } from "../../protocol/revisions.ts";
import type { AccountNeed } from "../../upstream/credentials.ts";

export interface NeedAnswer {
  readonly need: AccountNeed;
  /** The server, as people know it. */
  readonly label: string;
  readonly slug: string;
  /** The page that repairs it; exactly one of the gateway's own origin. */
  readonly url: string;
  readonly client: ClientKind;
  readonly method: string;
  /** The clock, in milliseconds since 1970. */
  readonly now: number;
}

/** The key of the one input request. */
export const CONNECT_INPUT = "connect";

/** What a client of 2026-07-28 is asked to do; the caller adds the sealed `requestState`. */
export function connectInput(answer: NeedAnswer): JsonObject {
  const params = { mode: "url", url: answer.url, message: sentenceOf(answer) };
  return {
    resultType: "input_required",
    inputRequests: { [CONNECT_INPUT]: { method: "elicitation/create", params } },
  };
}

/** @returns what is needed of this caller: an administrator can connect the account that all share. */
export function needOf(need: AccountNeed, isAdmin = false): AccountNeed {
  const isTheirs = isAdmin && need.need === "operator" && need.isShared === true;
  return isTheirs ? { ...need, need: "connect" } : need;
}

/** True when a person can repair it in the browser. */
function isRepairable({ need }: AccountNeed): boolean {
  return need === "connect" || need === "scope";
}

/** True when the client opens pages for its person (2025-11-25 and 2026-07-28, elicitation, URL mode). */
function opensPages({ capabilities }: ClientKind): boolean {
  const { elicitation } = capabilities;
  return isObject(elicitation) && isObject(elicitation["url"]);
}

/** True when the client is asked by an input request, and not by what `refusal` returns. */
export function takesConnectInput({ need, client }: NeedAnswer): boolean {
  return isRepairable(need) && opensPages(client) && eraOf(client.revision) === "modern";
}

/**
 * True when the client is asked by `connectElicitation`. Only 2025-11-25 has that error, and only clients that
 * open pages may get it (elicitation: MUST NOT). Only what a person has started may ask for a page: a list or
 * a subscription never does.
 */
export function takesConnectElicitation({ need, client, method }: NeedAnswer): boolean {
  const isLegacy = eraOf(client.revision) === "legacy";
  return isRepairable(need) && opensPages(client) && isLegacy && ASKING.has(method);
}

/** @param elicitationId by which the client is told when the account is connected. */
export function connectElicitation(answer: NeedAnswer, elicitationId: string): Reply {
  const visit = { mode: "url", elicitationId, url: answer.url, message: sentenceOf(answer) };
  return errorReply(ErrorCode.UrlElicitationRequired, textOf(answer), { elicitations: [visit] });
}

/** @returns the error or the tool's error result for a client that is asked in no other way. */
export function refusal(answer: NeedAnswer): Reply {
  return refused(answer, isRepairable(answer.need) ? textOf(answer) : sentenceOf(answer));
}

function textOf(answer: NeedAnswer): string {
  const sentence = sentenceOf(answer);
  return `${sentence} Open this page in a browser, and then try again:\n${answer.url}`;
}

/** The requests by which a person or a model wants something of one server. */
const ASKING: ReadonlySet<string> = new Set([
  "tools/call",
  "prompts/get",
  "resources/read",
  "completion/complete",
]);

function refused(
  { slug, need, client, method }: Pick<NeedAnswer, "slug" | "need" | "client" | "method">,
  text: string,
): Reply {
  if (method !== "tools/call") {
    const data = { upstream: slug, reason: "account", account: need.reason };
    return errorReply(ErrorCode.InternalError, text, data);
  }
  // A model reads a tool's error result, and can tell its person (all revisions, tools, error handling).
  const result = { content: [{ type: "text", text }], isError: true };
  const isModern = eraOf(client.revision) === "modern";
  return { result: isModern ? { ...result, resultType: "complete" } : result };
}

/** For a client whose person does not want to connect an account now. */
export function declined({
  slug,
  label,
  client,
  method,
}: Omit<NeedAnswer, "need" | "url" | "now">): Reply {
  const need: AccountNeed = { kind: "need", need: "connect", reason: "declined" };
  const text = `${label} was not used: no account is connected, and connecting one was declined.`;
  return refused({ slug, need, client, method }, text);
}

/** What is needed, in one sentence without a URL. */
function sentenceOf({ need, label, now }: NeedAnswer): string {
  switch (need.need) {
    case "connect":
      if (need.isShared === true) {
        return `${label} needs you, as an administrator, to connect the account that all share.`;
      }
      return need.accountId === undefined
        ? `${label} needs you to connect your account to continue.`
        : `${label} needs you to connect your account again to continue.`;
    case "scope":
      return `${label} needs your account to allow more to continue.`;
    case "forbidden":
      return `Your account at ${label} does not allow this.`;
    case "operator":
      return `${label} cannot be used at the moment: its login has to be repaired by the operator of this gateway (${need.reason}).`;
    case "later": {
      const seconds = Math.max(1, Math.ceil(((need.until ?? now) - now) / 1000));
      return `The login of ${label} is not answering at the moment; try again in ${seconds} s.`;
    }
  }
}
