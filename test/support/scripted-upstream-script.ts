/**
 * What a test sends to a scripted upstream, and what it gets back. Data only: it crosses from
 * a test inside workerd to a server in Node as JSON.
 */

export type Json = { readonly [key: string]: unknown };

/**
 * A part of a response body. Text goes out as it is, with the JSON strings `"{{id}}"` and
 * `"{{token}}"` replaced by the request's id and progress token. A gate holds the rest back until
 * the test opens it.
 */
export type Piece = string | { readonly base64: string } | { readonly gate: string };

export interface Reaction {
  /** 200 if not said; 0 drops the connection without a response. */
  readonly status?: number;
  /** The gate that holds back the whole response, its head included. */
  readonly heldBy?: string;
  /** The gate that opens when the request comes. */
  readonly opens?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces?: readonly Piece[];
  /** How the response ends once its pieces are out; `close` if not said. */
  readonly end?: "close" | "reset" | "never";
  /** Meets every later request of the kind too, not only the next. */
  readonly isLasting?: true;
}

export interface Script {
  /**
   * What the server is where no reaction says otherwise: Streamable HTTP with sessions, HTTP+SSE,
   * 2026-07-28, or Streamable HTTP of both eras.
   */
  readonly server: "legacy" | "sse" | "modern" | "dual";
  /** The revision that a legacy server agrees to; the client's own if not said. */
  readonly revision?: string;
  readonly capabilities?: Json;
  readonly tools?: readonly Json[];
  /** Whose account it is: tools say so in their results. */
  readonly account?: string;
  /** The path of the server, for HTTP+SSE; that of its slug if not said. */
  readonly endpoint?: string;
  /** How a legacy server meets a session that it does not know. */
  readonly unknownSession?: { readonly status: number; readonly code: number };
  /**
   * By JSON-RPC method, or by `GET`, `DELETE` and `response` (a client's answer), and before `GET` by `resume`
   * for a GET with an event id. Taken in order; what comes after the last is met as the server would.
   */
  readonly reactions?: Readonly<Record<string, readonly Reaction[]>>;
}

/** One request as the upstream saw it. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON; `undefined` without one. */
  readonly body?: Json & {
    readonly method?: string;
    readonly id?: unknown;
    readonly params?: Json;
  };
  /** The body as it came, where `body` is. */
  readonly text?: string;
  readonly status: number;
  /** The session that it opened. */
  readonly opened?: string;
  /** The gateway hung up before the response was over. */
  readonly isCutOff: boolean;
}

/** How a slug is configured. */
export const KINDS = {
  /** Nothing but a URL. */
  auto: {},
  /** Gives up on a call after a second without a sign of life. */
  hasty: { timeoutSeconds: 1 },
  /** Gives up after a while. */
  patient: { timeoutSeconds: 4 },
  /** Configured as HTTP+SSE. */
  sse: { transport: "sse", timeoutSeconds: 5 },
  legacy: { era: "legacy" },
  modern: { era: "modern" },
  /** Has an operator's headers. */
  keyed: { headers: { "X-Operator-Key": "operator-secret" } },
} as const satisfies Record<string, Json>;

export type Kind = keyof typeof KINDS;

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of the scripted upstreams. */
    scripted: string;
    /** Variables of the Worker under test. */
    workerdBindings: Record<string, string>;
  }
}
