/** Requests to an authorization server. What it answers with an error is told apart from not being reached. */

import { tryJson } from "../../src/lib/try-json.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { Broken, failureOf } from "../http/failures.ts";
import { LoginError } from "./login-error.ts";

const TIMEOUT_MS = 15_000;

export function getJson(url: URL, signal: AbortSignal): Promise<JsonObject> {
  return ask(url, { headers: { accept: "application/json" } }, signal);
}

export function postJson(url: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return ask(new URL(url), { method: "POST", headers, body: JSON.stringify(body) }, signal);
}

export function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const body = new URLSearchParams(fields);
  const headers = { accept: "application/json" };
  return ask(new URL(url), { method: "POST", headers, body }, signal);
}

/** @returns the status of a page that is for a browser. @throws NotReached or Broken. */
export async function pageStatus(url: URL, signal: AbortSignal): Promise<number> {
  return (await answerOf(url, { redirect: "manual" }, signal)).response.status;
}

interface Answer {
  readonly response: Response;
  readonly text: string;
}

/** @throws NotReached or Broken. */
async function answerOf(url: URL, init: RequestInit, signal: AbortSignal): Promise<Answer> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const response = await fetch(url, { ...init, signal: bounded });
    return { response, text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    throw bounded.aborted ? new Broken(`${url.href} did not answer in time`) : failureOf(error);
  }
}

/** @throws NotReached, Broken, or LoginError for an answer that refuses. */
async function ask(url: URL, init: RequestInit, signal: AbortSignal): Promise<JsonObject> {
  const { response, text } = await answerOf(url, { ...init, redirect: "error" }, signal);
  const value = tryJson(text);
  const { error, error_description: description } = isObject(value) ? value : {};
  if (response.ok && isObject(value)) return value;
  // RFC 7009 section 2.2: a revocation has no answer.
  if (response.ok) return {};
  const isPassing = response.status >= 500 || response.status === 429;
  if (isPassing) throw new Broken(`${url.href} answered with status ${response.status}`);
  const why = typeof description === "string" ? description : `status ${response.status}`;
  throw new LoginError(`${url.href}: ${why}`, typeof error === "string" ? error : undefined);
}
