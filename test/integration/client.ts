/** A client of the gateway's, in either era, as thin as can be: tests see the bytes. */

import { exports } from "cloudflare:workers";

import type { Json } from "../support/scripted-upstream-script.ts";
import { within } from "./bounded.ts";
import { atEndOfFile } from "./hang-up.ts";
import { EventReader, type Message, responseIn } from "./event-reader.ts";
import type { Upstream } from "./upstream.ts";

export const ORIGIN = "http://localhost:8787";
export const BOTH_TYPES = "application/json, text/event-stream";
export const LATEST_LEGACY = "2025-11-25";
export const MODERN = "2026-07-28";
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

export type Headers = Readonly<Record<string, string>>;

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const url = path.startsWith("http") ? path : ORIGIN + path;
  const response = await within(
    exports.default.fetch(new Request(url, init)),
    `an answer to ${path}`,
  );
  const { body } = response;
  // Whoever reads it hangs up themselves.
  if (body !== null) atEndOfFile(async () => body.locked || body.cancel());
  return response;
}

/** Posts a value as JSON, with the headers that every client sends. `undefined` leaves one out. */
export function post(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<Response> {
  const usual = { "Content-Type": "application/json", Accept: BOTH_TYPES, ...headers };
  const given = Object.entries(usual).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return send(path, {
    method: "POST",
    headers: given,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export function initializeMessage(
  revision: string = LATEST_LEGACY,
  capabilities: Json = {},
  id: unknown = 0,
): Json {
  const clientInfo = { name: "integration", version: "1.0.0" };
  const params = { protocolVersion: revision, capabilities, clientInfo };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

function isBatch(message: Json | readonly Json[]): message is readonly Json[] {
  return Array.isArray(message);
}

export interface SessionOptions {
  readonly revision?: string;
  readonly capabilities?: Json;
  /** Sent with every request. */
  readonly headers?: Headers;
}

/** A legacy session over Streamable HTTP. */
export class Session {
  readonly path: string;
  readonly headers: Headers;
  /** The answer to `initialize`. */
  opening: Message | undefined;
  #count = 100;

  private constructor(path: string, headers: Headers) {
    this.path = path;
    this.headers = headers;
  }

  /** The session that a response to `initialize` opened. */
  static of(path: string, response: Response, version?: string, headers?: Headers): Session {
    const id = response.headers.get("mcp-session-id") ?? "";
    const versions = version === undefined ? {} : { "MCP-Protocol-Version": version };
    const session = new Session(path, { "Mcp-Session-Id": id, ...versions, ...headers });
    // It would be told of all servers of the next file, once its object comes to life there.
    if (path === "/mcp") atEndOfFile(() => session.delete());
    return session;
  }

  /** Shakes hands, the notification included. */
  static async open(path: string, options: SessionOptions = {}): Promise<Session> {
    const { revision = LATEST_LEGACY, capabilities = {}, headers = {} } = options;
    const response = await post(path, initializeMessage(revision, capabilities), headers);
    const version = revision >= "2025-06-18" ? revision : undefined;
    const session = Session.of(path, response, version, headers);
    session.opening = await responseIn(response);
    if (session.id === "") throw new Error(`Not opened: ${JSON.stringify(session.opening)}`);
    await session.notify("notifications/initialized");
    return session;
  }

  /** Opens one, and has it used: only then is there a session of its own at the upstream. */
  static async inUse(path: string, options: SessionOptions = {}): Promise<Session> {
    const session = await Session.open(path, options);
    const { error } = await responseIn(await session.request("tools/list"));
    if (error !== undefined) throw new Error(`Not used: ${JSON.stringify(error)}`);
    return session;
  }

  get id(): string {
    return this.headers["Mcp-Session-Id"] ?? "";
  }

  /** Sends one message, or several as a batch. */
  post(message: Json | readonly Json[], headers: Headers = {}): Promise<Response> {
    const body = isBatch(message)
      ? message.map((one) => ({ jsonrpc: "2.0", ...one }))
      : { jsonrpc: "2.0", ...message };
    return post(this.path, body, { ...this.headers, ...headers });
  }

  request(method: string, params: Json = {}, id: unknown = ++this.#count): Promise<Response> {
    return this.post({ id, method, params });
  }

  callTool(name = "work", params: Json = {}, id?: unknown): Promise<Response> {
    return this.request("tools/call", { name, arguments: {}, ...params }, id);
  }

  /** @returns once it was taken. */
  async notify(method: string, params?: Json): Promise<void> {
    await this.#accepted(params === undefined ? { method } : { method, params });
  }

  /** Answers a question of the server's. */
  async answer(id: unknown, reply: Json): Promise<void> {
    await this.#accepted({ id, ...reply });
  }

  async #accepted(message: Json): Promise<void> {
    const response = await this.post(message);
    const text = await response.text();
    if (response.status !== 202) throw new Error(`Not accepted: ${response.status} ${text}`);
  }

  get(headers: Headers = {}): Promise<Response> {
    return send(this.path, {
      headers: { Accept: "text/event-stream", ...this.headers, ...headers },
    });
  }

  /** Opens the stream of what belongs to no request, or takes one up. */
  async listen(lastEventId?: string): Promise<EventReader> {
    const response = await this.get(
      lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId },
    );
    if (response.status !== 200) throw new Error(`No stream: ${await response.text()}`);
    return new EventReader(response);
  }

  delete(): Promise<Response> {
    return send(this.path, { method: "DELETE", headers: this.headers });
  }
}

export interface ModernOptions {
  readonly id?: unknown;
  /** More of `_meta`. */
  readonly meta?: Json;
  readonly capabilities?: Json;
  /** More headers; `undefined` leaves a usual one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** The `_meta` that every modern request carries. */
export function envelope({ meta = {}, capabilities = {} }: ModernOptions = {}): Json {
  return { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: capabilities, ...meta };
}

/** One modern request. */
export function modern(
  upstream: Pick<Upstream, "mcp">,
  method: string,
  params: Json = {},
  options: ModernOptions = {},
): Promise<Response> {
  const { id = 1, headers = {} } = options;
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  return post(
    upstream.mcp,
    { jsonrpc: "2.0", id, method, params: { _meta: envelope(options), ...params } },
    {
      "MCP-Protocol-Version": MODERN,
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
      ...headers,
    },
  );
}

export function modernCall(
  upstream: Pick<Upstream, "mcp">,
  options: ModernOptions = {},
): Promise<Response> {
  return modern(upstream, "tools/call", { name: "work", arguments: {} }, options);
}
