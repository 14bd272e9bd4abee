/** The HTTP of every connector: sends with the operator's headers and judges the status. */

import { tryLossless } from "../lib/lossless-json.ts";
import { readText } from "../lib/read-text.ts";
import { scanJson } from "../lib/scan-json.ts";
import { parseBearerChallenge } from "../protocol/bearer-challenge.ts";
import { isObject, type ErrorObject } from "../protocol/json-rpc.ts";
import { connectionFailure } from "./connection-failure.ts";
import { parseServerMessage } from "./server-message.ts";
import type { UsableCredential } from "./credentials.ts";
import { sendWithAccount, type SessionAccount } from "./send-with-account.ts";
import type { Assertion, UpstreamTarget } from "./target.ts";
import { UpstreamError, type UpstreamFailure } from "./upstream-error.ts";

export const ACCEPT_BOTH = "application/json, text/event-stream";
/** For messages without a deadline of their own: notifications, answers, the end of a session. */
export const UNATTENDED_TIMEOUT_MS = 30_000;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
const MAX_ERROR_DEPTH = 100;

export interface Send {
  readonly method: "POST" | "GET" | "DELETE";
  readonly url?: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Of the session that the request belongs to, at a server with accounts. */
  readonly account?: SessionAccount;
  /** Sent as it is: that of an account which its vault does not have any more. */
  readonly last?: UsableCredential | undefined;
  /** Ends the request and the reading of its body. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request upstream. Redirects are not followed: they would carry the operator's headers
 * to a host that the operator has not configured.
 *
 * @throws UpstreamError `unreachable` when no response came; as `sendWithAccount` at a server with
 *   accounts; the abort reason when aborted.
 */
export async function send(target: UpstreamTarget, sent: Send): Promise<Response> {
  const { credentials, assertion } = target;
  const request = assertion === undefined ? sent : await asserted(assertion, sent);
  if (credentials === undefined) return sendOnce(target, request, headersOf(target, request));
  const { account, last, signal } = request;
  if (last !== undefined) return sendOnce(target, request, withCredential(target, request, last));
  return sendWithAccount({
    target,
    credentials,
    account,
    signal,
    send: (credential) => sendOnce(target, request, withCredential(target, request, credential)),
  });
}

async function asserted(assertion: Assertion, request: Send): Promise<Send> {
  const { headers } = request;
  return { ...request, headers: { ...headers, [assertion.header]: await assertion.value() } };
}

async function sendOnce(
  target: UpstreamTarget,
  { method, url = target.endpoint, body, signal }: Send,
  headers: HeadersInit,
): Promise<Response> {
  try {
    return await target.fetch(url, {
      method,
      redirect: "manual",
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A published server's object has said why.
    if (error instanceof UpstreamError) throw error;
    const connection = connectionFailure(error, url);
    throw new UpstreamError(target.slug, "unreachable", "cannot be reached", { connection });
  }
}

/** The gateway's own headers replace an operator's of the same names, in any case of letters. */
function headersOf(target: UpstreamTarget, { headers, body }: Send): Headers {
  const all = new Headers(target.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  if (body !== undefined) all.set("Content-Type", "application/json");
  return all;
}

/** The account's header replaces an operator's of that name, in any case of letters. */
function withCredential(
  target: UpstreamTarget,
  request: Send,
  { header, value, endpoint: accountAt }: UsableCredential,
): Headers {
  const { slug, endpoint } = target;
  const { url = endpoint } = request;
  // A connector has compared the origins before; a credential is worth a second look.
  if (url.origin !== endpoint.origin) {
    throw new UpstreamError(slug, "malformed", "named an address outside its own origin");
  }
  // The last credential of an account may be of an address that the server had before.
  if (accountAt !== undefined && accountAt !== endpoint.href) {
    throw new UpstreamError(slug, "session-lost", "has a session at another address");
  }
  const headers = headersOf(target, request);
  headers.delete("Authorization");
  headers.set(header, value);
  return headers;
}

/**
 * Reads the JSON-RPC error in the body of a refusal. The body is read within a bound and consumed.
 *
 * @throws UpstreamError when there is no such error, or when the status is no evidence about the MCP
 *   server itself: refused credentials, overload and failures.
 */
export async function readRefusal(
  target: UpstreamTarget,
  response: Response,
): Promise<ErrorObject> {
  const { status } = response;
  const error = await readErrorBody(target, response);
  if (error === undefined || status >= 500 || NO_EVIDENCE.has(status)) {
    throw demandsLogin(target, response)
      ? loginDemanded(target.slug, status)
      : refusalOf(target.slug, status);
  }
  return error;
}

const NO_EVIDENCE: ReadonlySet<number> = new Set([401, 403, 408, 429]);

async function readErrorBody(
  target: UpstreamTarget,
  response: Response,
): Promise<ErrorObject | undefined> {
  const text = await readText(response.body, MAX_ERROR_BODY_BYTES).catch(() => "");
  // HTML, plain text, or a truncated body: a refusal without a JSON-RPC error.
  const { depth, inexact } = scanJson(text, { depth: MAX_ERROR_DEPTH });
  const body = depth <= MAX_ERROR_DEPTH ? tryLossless(text, inexact) : undefined;
  const message = isObject(body) ? { jsonrpc: "2.0", ...body } : body;
  const parsed = parseServerMessage(target, message);
  return parsed?.kind === "response" && "error" in parsed.message
    ? parsed.message.error
    : undefined;
}

/**
 * True when the server says where a login is to be had (RFC 9728 section 5.1), and the operator has given it
 * neither an account nor a token. A server whose token is refused may say it too.
 */
function demandsLogin(
  { credentials, headers }: UpstreamTarget,
  { status, headers: answered }: Response,
): boolean {
  if (status !== 401 || credentials !== undefined || new Headers(headers).has("Authorization")) {
    return false;
  }
  const challenge = parseBearerChallenge(answered.get("WWW-Authenticate"));
  return challenge?.resourceMetadata !== undefined;
}

function loginDemanded(slug: string, status: number): UpstreamError {
  const sentence = `demands a login; set auth = "oauth" in MCP_SERVERS.${slug} (HTTP ${status})`;
  return new UpstreamError(slug, "unauthorized", sentence, { status });
}

/** The error for a refusal without a JSON-RPC error, by its status. */
function refusalOf(slug: string, status: number): UpstreamError {
  const [failure, sentence] = judgeStatus(status);
  return new UpstreamError(slug, failure, `${sentence} (HTTP ${status})`, { status });
}

function judgeStatus(status: number): [failure: UpstreamFailure, sentence: string] {
  if (status === 401 || status === 403) {
    return [
      "unauthorized",
      'refused the gateway\'s credentials; check its "headers" in MCP_SERVERS',
    ];
  }
  if (status === 429) return ["overloaded", "asks to slow down"];
  if (status === 408 || status >= 500) return ["unreachable", "is failing"];
  if (status >= 300 && status < 400) {
    return ["malformed", 'redirects; put the final address into its "url" in MCP_SERVERS'];
  }
  return ["malformed", "refused a request without an MCP error"];
}
