/**
 * The fetch for every request to an identity provider: a timeout, a limit of size, no redirects,
 * and plain http to this machine alone. The response is complete, so no connection stays open.
 */

import { isLoopback } from "../../lib/loopback.ts";
import { readText } from "../../lib/read-text.ts";
import { abortAfter } from "../../lib/time-out.ts";
import { SignInError } from "./sign-in-error.ts";

export type ProviderFetch = (url: URL, init: RequestInit) => Promise<Response>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** @returns a fetch that rejects with `provider-unreachable` when there is no response. */
export function providerFetch(fetch: ProviderFetch): ProviderFetch {
  return async (url, init) => {
    if (!isSafe(url))
      throw new SignInError("provider-error", "The provider has a URL without TLS.");
    const { status, headers, text } = await read(fetch, url, init);
    // The response of an overloaded or broken server says nothing about the person.
    if (status === 429 || status >= 500) throw unreachable(`HTTP ${status}`);
    return new Response(text === "" ? null : text, { status, headers });
  };
}

/** @returns whether a request may be sent there: TLS, or this machine. */
export function isSafe(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

async function read(
  fetch: ProviderFetch,
  url: URL,
  init: RequestInit,
): Promise<{ status: number; headers: Headers; text: string }> {
  try {
    return await abortAfter(TIMEOUT_MS, async (signal) => {
      const { status, headers, body } = await fetch(url, { ...init, redirect: "manual", signal });
      return { status, headers, text: await readText(body, MAX_BYTES) };
    });
  } catch (cause) {
    throw unreachable("no answer", { cause });
  }
}

function unreachable(what: string, options?: ErrorOptions): SignInError {
  const detail = `The provider cannot be reached or is failing (${what}).`;
  return new SignInError("provider-unreachable", detail, options);
}
