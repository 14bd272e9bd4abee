/** Requests to one URL of a gateway, with the credential of whoever is signed in. */

import { pauseMs } from "../../src/lib/backoff.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { mediaType } from "../../src/lib/media-type.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { Broken, failureOf, NotReached } from "./failures.ts";

/** The credential of each request. */
export interface Credentials {
  /**
   * The value of `Authorization`; `undefined` where nobody is signed in.
   *
   * @throws NotReached when it has to be renewed, and nothing can be reached.
   */
  current(): Promise<string | undefined>;
  /**
   * Called when the gateway answered 401. Resolves when there is another credential to try.
   *
   * @param refused the value that was sent.
   * @param deadline when to give up waiting for a person, as `performance.now()` counts; 0 and `Infinity` are of
   *   requests that nobody waits for, which begin no login.
   * @throws LoginNeeded when a person has to sign in first.
   */
  renew(refused: string | undefined, challenge: string, deadline: number): Promise<void>;
}

export interface GatewayRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request, and each wait before it. */
  readonly signal: AbortSignal;
}

export interface Patience {
  /** When a request fails that still waits for a gateway that is away, as `performance.now()` counts. */
  readonly deadline: number;
  /** The signal of the wait alone: what was sent is not taken back by it. */
  readonly waiting?: AbortSignal | undefined;
}

const PAUSES = { firstMs: 100, maxMs: 2000 } as const;
/** After a refusal that names no time. */
const MAX_RETRY_AFTER_MS = 10_000;

export class Gateway {
  readonly url: URL;
  readonly #credentials: Credentials;
  readonly #notice: (text: string) => void;
  #isAway = false;
  #hasServed = false;

  /** @param notice tells the person at stderr. */
  constructor(url: URL, credentials: Credentials, notice: (text: string) => void) {
    this.url = url;
    this.#credentials = credentials;
    this.#notice = notice;
  }

  /** True once a request was answered, and not refused. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /**
   * Sends a request, once it can be: it waits for a gateway that is away, and for a person to sign in.
   *
   * @returns the response, of any status but 401 and 503.
   * @throws NotReached when the deadline has passed; Broken, also for a 503 that is not the gateway's own;
   *   LoginNeeded; the reason of a signal.
   */
  async send(request: GatewayRequest, { deadline, waiting }: Patience): Promise<Response> {
    const signal =
      waiting === undefined ? request.signal : AbortSignal.any([request.signal, waiting]);
    for (let failures = 0; ; failures++) {
      signal.throwIfAborted();
      const outcome = await this.#attempt(request, deadline, signal);
      if (outcome instanceof Response) return outcome;
      const pause = Math.max(outcome.pauseMs, pauseMs(PAUSES, failures) * (0.5 + Math.random()));
      if (performance.now() + pause > deadline) {
        const sentence = `${this.url.href} was not reached in time (${outcome.reason})`;
        throw new NotReached(sentence, outcome.reason);
      }
      await sleep(pause, signal);
    }
  }

  async #attempt(
    request: GatewayRequest,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Response | { readonly reason: string; readonly pauseMs: number }> {
    try {
      const response = await this.#authorized(request, deadline, signal);
      if (response.status !== 503) {
        this.#hasServed ||= response.ok;
        if (this.#isAway) this.#notice(`${this.url.href} is back`);
        this.#isAway = false;
        return response;
      }
      const text = await response.text().catch(() => "");
      const said = isPlain(response) ? `: ${text.trim().replaceAll(/\s+/g, " ")}` : "";
      const reason = `status 503${said}`;
      if (!isOwnRefusal(response, text)) throw new Broken(reason);
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      return this.#away(reason, Math.min(seconds * 1000 || 0, MAX_RETRY_AFTER_MS));
    } catch (error) {
      // A safe method may always be repeated (RFC 9110 section 9.2.1).
      const isSafe = error instanceof Broken && request.method === "GET";
      if (!(error instanceof NotReached) && !isSafe) throw error;
      return this.#away(error.message, 0);
    }
  }

  #away(reason: string, pauseMs: number): { readonly reason: string; readonly pauseMs: number } {
    if (!this.#isAway) this.#notice(`${this.url.href} cannot be reached (${reason}); trying again`);
    this.#isAway = true;
    return { reason, pauseMs };
  }

  async #authorized(
    request: GatewayRequest,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const authorization = await this.#credentials.current();
      // A credential may take as long as a person does: whoever has cancelled meanwhile wants it sent no more.
      signal.throwIfAborted();
      const response = await this.#fetch(request, authorization);
      // The second refusal of a credential that is new says that no other would help.
      if (response.status !== 401 || attempt > 1) return response;
      await response.body?.cancel();
      const challenge = response.headers.get("www-authenticate") ?? "";
      await this.#credentials.renew(authorization, challenge, deadline);
    }
  }

  async #fetch(
    { method, headers, body, signal }: GatewayRequest,
    authorization: string | undefined,
  ): Promise<Response> {
    const all = authorization === undefined ? headers : { ...headers, authorization };
    // A redirect is shown, not followed: the credential is for this URL alone.
    const options = { method, headers: all, signal, redirect: "manual" } as const;
    let response: Response;
    try {
      response = await fetch(this.url, body === undefined ? options : { ...options, body });
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error);
    }
    if (!ofProxies(response)) return response;
    await response.body?.cancel();
    throw new Broken(`status ${response.status}`);
  }
}

/** True for what a proxy answers when it has lost the gateway; 520 and above are Cloudflare's own. */
function ofProxies({ status, headers }: Response): boolean {
  const isJson = mediaType(headers.get("content-type")) === "application/json";
  return !isJson && (status === 502 || status === 504 || (status >= 520 && status <= 530));
}

/**
 * True for a 503 of the gateway's own, whose request did not run: an error as JSON-RPC or OAuth has it, or text whose last
 * line is a sentence and ends. Others may come after the request has run. wrangler's proxy loses what a reload
 * interrupts, and does not end its line; Cloudflare ends a Worker at its limits (error 1102), with a page, a bare code,
 * or JSON of another shape.
 */
export function isOwnRefusal(response: Response, text: string): boolean {
  const body = tryJson(text);
  return isObject(body) ? "error" in body : isPlain(response) && text.endsWith(".\n");
}

function isPlain({ headers }: Response): boolean {
  return mediaType(headers.get("content-type")) === "text/plain";
}

/** The body of an answer. @throws Broken when the connection ends before it does. */
export async function readBody(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw failureOf(error, "sent");
  }
}
