/**
 * A round in which the gateway itself asks a modern client for something: to have its person connect an
 * account. `accept` means that the person agreed to open the page, not that they are done (2026-07-28,
 * elicitation, URL mode), so the retry is held until the account is there.
 */

import { connectUrl } from "../../accounts/addresses.ts";
import { labelOf } from "../../accounts/settings.ts";
import type { Server } from "../../endpoint/server.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isObject, type Reply } from "../../protocol/json-rpc.ts";
import type { RequestContext } from "../../relay/modern-context.ts";
import type { AccountNeed } from "../../upstream/credentials.ts";
import {
  CONNECT_INPUT,
  connectInput,
  declined,
  type NeedAnswer,
  needOf,
  refusal,
  takesConnectInput,
} from "../accounts/connect-answer.ts";
import { type ConnectRound, sealConnectRound } from "./request-state.ts";

/** Longer than most logins take, and shorter than most clients and proxies wait for an answer. */
const HOLD_MS = 45_000;
/** A person who answers later is asked anew. */
const LIFE_MS = 600_000;

/** @param call as the server would have got it. */
export async function askForAccount(
  { context, client }: RequestContext,
  server: Server,
  call: Call,
  needed: AccountNeed,
): Promise<Reply> {
  const { slug } = server;
  const now = Date.now();
  const need = needOf(needed, context.isAdmin);
  const url = connectUrl(context.origin ?? "", slug, need.ask);
  const answer: NeedAnswer = {
    ...{ need, url, client, slug, now },
    label: labelOf(server),
    method: call.method,
  };
  if (!takesConnectInput(answer)) return refusal(answer);
  const requestState = await sealConnectRound(context, slug, call, now);
  return { result: { ...connectInput(answer), requestState } };
}

/**
 * Waits for the account after the client's person has opened the page.
 *
 * @param call as the client sent it.
 * @returns the answer for a client whose person declined; `undefined` when the call may go on.
 * @throws the reason of the client's signal.
 */
export async function awaitAccount(
  { client, signal }: RequestContext,
  server: Server,
  { method, params }: Call,
  { askedAt }: ConnectRound,
): Promise<Reply | undefined> {
  if (Date.now() - askedAt > LIFE_MS) return undefined;
  const responses = params?.inputResponses;
  const response = isObject(responses) ? responses[CONNECT_INPUT] : undefined;
  const action = isObject(response) ? response["action"] : undefined;
  if (action === "decline" || action === "cancel") {
    return declined({ slug: server.slug, label: labelOf(server), client, method });
  }
  const waiting = server.target.credentials?.connected(HOLD_MS);
  if (waiting !== undefined) await unlessAborted(waiting, signal);
  return undefined;
}
