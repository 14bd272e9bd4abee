/** What every real client looks like to a test, whichever SDK and era it is of. */

/**
 * `v1` is `@modelcontextprotocol/sdk`, over Streamable HTTP or HTTP+SSE; `v2` is
 * `@modelcontextprotocol/client`, held to one era.
 */
export const KINDS = ["v1-http", "v1-sse", "v2-legacy", "v2-modern"] as const;

/** The same SDKs as hosts, which start `edgeway connect`. */
type StdioKind = "v1-stdio" | "v2-stdio-legacy" | "v2-stdio-modern" | "v2-stdio-auto";

/** `v2-auto` finds out by itself which era it is in. */
export type Kind = (typeof KINDS)[number] | StdioKind | "v2-auto";

export type Json = Record<string, unknown>;

export interface Message {
  readonly method: string;
  readonly params: Json;
}

/** How the person and the model behind a client answer. Whatever is thrown is an error answer. */
export interface Answers {
  sampling(params: Json): Json | Promise<Json>;
  elicitation(params: Json): Json | Promise<Json>;
  roots(): readonly Json[];
}

export interface ConnectOptions {
  readonly answers?: Partial<Answers>;
  /** The capabilities of the client; all of them by default. */
  readonly capabilities?: Json;
  /** Takes the place of `fetch`, to watch or to break what goes over the wire. */
  readonly fetch?: typeof fetch;
  /** The revision that a host over stdio asks for (v1). */
  readonly revision?: string;
  /** The environment of `edgeway connect`, beside what the SDKs give it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Goes on with a session that another client has opened (v1 over Streamable HTTP). */
  readonly sessionId?: string;
}

export interface CallOptions {
  readonly onprogress?: (progress: Json) => void;
  readonly onresumptiontoken?: (token: string) => void;
  readonly resumptionToken?: string;
  readonly signal?: AbortSignal;
}

export interface Client {
  readonly kind: Kind;
  /** What the server said of itself while connecting. */
  readonly server: {
    readonly revision: string | undefined;
    readonly capabilities: unknown;
    readonly info: unknown;
    readonly instructions: string | undefined;
  };
  readonly sessionId: string | undefined;
  /** Every notification that belongs to no call, in the order of arrival. */
  readonly notifications: readonly Message[];
  /** Everything that the server has asked, in the order of arrival. */
  readonly asked: readonly Message[];
  /** Every result and error as it came over the wire, before the SDK made something of it. */
  readonly replies: readonly Json[];
  /** The ids of the requests that they belong to. */
  readonly repliesTo: readonly unknown[];
  /** Every report of progress, likewise. */
  readonly progress: readonly Json[];
  /** What the SDK complained of: unknown ids, unknown tokens, broken streams. */
  readonly errors: readonly Error[];
  request(method: string, params?: Json, options?: CallOptions): Promise<Json>;
  /** As the SDK lists them: it drops bad tools, and checks later results by their schemas. */
  listTools(): Promise<readonly Json[]>;
  callTool(name: string, args?: Json, options?: CallOptions): Promise<Json>;
  notify(method: string): Promise<void>;
  /** For the session in the legacy era; for every call from now on in the modern one. */
  setLogLevel(level: string): Promise<void>;
  /** Subscribes to resources, and listens to changes of the lists. @returns what ends that. */
  watch(...uris: string[]): Promise<() => Promise<void>>;
  /** Ends the session, where there is one. */
  terminate(): Promise<void>;
  /** Closes every connection; a session stays. */
  disconnect(): Promise<void>;
}

/** The SDKs wait for a minute, which is how long some tests take on a busy machine. */
export const CALL = { timeout: 170_000 } as const;

export type Connect = (kind: Kind, url: string, options?: ConnectOptions) => Promise<Client>;

/**
 * The SDKs give up after two tries, which a restart of a gateway on a busy machine outlasts. The pause
 * is a second, as the gateway asks.
 */
export const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 150,
} as const;
