/** Asks a server one thing, to see how it meets whoever has no account there, or a key that nobody has tried. */

import { abortAfter } from "../../lib/time-out.ts";
import { type BearerChallenge, parseBearerChallenge } from "../../protocol/bearer-challenge.ts";
import { ACCEPT_BOTH } from "../../upstream/http.ts";
import type { AccountServer } from "./authorization.ts";

const PROBE_MS = 10_000;

/** @returns what the server says of where a login is to be had (RFC 9728 section 5.1). */
export async function challengeOf(server: AccountServer): Promise<BearerChallenge | undefined> {
  const response = await probe(server, {});
  return response?.status === 401
    ? parseBearerChallenge(response.headers.get("www-authenticate"))
    : undefined;
}

export async function tryHeader(
  server: AccountServer,
  { header, value }: { readonly header: string; readonly value: string },
): Promise<"accepted" | "refused" | "untried"> {
  const response = await probe(server, { [header]: value });
  if (response === undefined || response.status >= 500) return "untried";
  return response.status === 401 || response.status === 403 ? "refused" : "accepted";
}

/** @returns `undefined` when there was no answer. */
async function probe(
  { target }: AccountServer,
  headers: Readonly<Record<string, string>>,
): Promise<Response | undefined> {
  const body = { jsonrpc: "2.0", id: 1, method: "server/discover", params: {} };
  try {
    return await abortAfter(PROBE_MS, async (signal) => {
      const response = await target.fetch(target.endpoint, {
        method: "POST",
        redirect: "manual",
        headers: {
          ...target.headers,
          Accept: ACCEPT_BOTH,
          "Content-Type": "application/json",
          ...headers,
        },
        body: JSON.stringify(body),
        signal,
      });
      await response.body?.cancel();
      return response;
    });
  } catch {
    return undefined; // discovery, or the next request, says what is wrong
  }
}
