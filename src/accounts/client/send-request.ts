/** Requests to the endpoints of an authorization server: bounded, and never redirected with a secret. */

import { type EgressPolicy, judgeEgress, type LoadOptions } from "../../lib/egress.ts";
import { readText } from "../../lib/read-text.ts";
import { scanJson } from "../../lib/scan-json.ts";
import { abortAfter } from "../../lib/time-out.ts";
import { tryJson } from "../../lib/try-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

export interface EndpointAccess {
  readonly fetch: LoadOptions["fetch"];
  readonly policy: EgressPolicy;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The body, if it is a JSON object. */
  readonly body?: JsonObject;
}

/** `refused`: the address is none that may be asked, and nothing was sent. */
export type EndpointOutcome = EndpointAnswer | "refused" | "unanswered";

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;

/** Sends a request within `timeoutMs` for all of it. Nothing is sent twice. */
export async function sendRequest(
  address: string,
  init: RequestInit,
  { fetch, policy, timeoutMs }: EndpointAccess & { readonly timeoutMs: number },
): Promise<EndpointOutcome> {
  if (!URL.canParse(address)) return "refused";
  const url = new URL(address);
  if (judgeEgress(url, policy) !== undefined) return "refused";
  try {
    return await abortAfter(timeoutMs, async (signal) => {
      const response = await fetch(url, { ...init, redirect: "manual", signal });
      const { status, headers } = response;
      const body = parseBody(await readText(response.body, MAX_BYTES));
      const retryAfter = headers.get("retry-after");
      return { status, retryAfter, ...(body !== undefined && { body }) };
    });
  } catch {
    return "unanswered"; // no answer, a part of one, or one that is too large
  }
}

function parseBody(text: string): JsonObject | undefined {
  if (scanJson(text, { depth: MAX_DEPTH }).depth > MAX_DEPTH) return undefined;
  const value = tryJson(text);
  return isObject(value) ? value : undefined;
}
