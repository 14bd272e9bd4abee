/** The world outside, as a test sees it: what it answers, and what it was asked. */

import { inject } from "vitest";

import type { CanaryAnswer, CanaryHit } from "../support/canary-script.ts";
import { CLIENT_HOSTS } from "../support/canary-script.ts";

async function control<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${inject("canary")}/control/${path}`, init);
  return response.json();
}

/** @returns a host that no other test knows. */
export function newHost(): string {
  return crypto.randomUUID() + CLIENT_HOSTS;
}

/** Puts an answer at a URL, in place of the one before. Nobody else's hosts have any. */
export async function serveAt(url: string, answer: CanaryAnswer): Promise<void> {
  await control("answers", { method: "PUT", body: JSON.stringify({ url, ...answer }) });
}

/** Puts a JSON document at a URL. */
export function serveJsonAt(url: string, document: unknown): Promise<void> {
  return serveAt(url, { body: JSON.stringify(document) });
}

/** Every request that was made of a host, in order. */
export function hitsAt(host: string): Promise<readonly CanaryHit[]> {
  return control(`hits?host=${encodeURIComponent(host)}`);
}

/** Every request that went to a host no test has made up, in all the tests so far. */
export async function escapes(): Promise<readonly CanaryHit[]> {
  const hits = await control<readonly CanaryHit[]>("hits");
  return hits.filter(({ isEscape }) => isEscape);
}
