/** Servers of either era that list what a test says, as functions that answer a fake target. */

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { type Answer, json, type Seen } from "../../upstream/fake-target.ts";

/** By method: a result, an HTTP answer of its own, or nothing for an unknown method. */
export type Methods = Readonly<
  Record<string, JsonObject | ((seen: Seen) => JsonObject | Response | Promise<Response>)>
>;

export interface Listing {
  readonly answer: Answer;
  /** What it was asked: JSON-RPC methods, or HTTP methods other than POST. */
  readonly asked: string[];
  readonly seen: Seen[];
}

const SESSION = { "Mcp-Session-Id": "session-1" };

function listing(react: (seen: Seen, method: string) => Response | Promise<Response>): Listing {
  const asked: string[] = [];
  const seen: Seen[] = [];
  return {
    asked,
    seen,
    answer: (request) => {
      const { method } = request.body;
      const name = typeof method === "string" ? method : request.method;
      asked.push(name);
      seen.push(request);
      return react(request, name);
    },
  };
}

async function reactBy(methods: Methods, seen: Seen, method: string): Promise<Response> {
  const { id } = seen.body;
  const said = Object.hasOwn(methods, method) ? methods[method] : undefined;
  const result = typeof said === "function" ? await said(seen) : said;
  if (result instanceof Response) return result;
  return result === undefined
    ? json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }, { status: 404 })
    : json({ jsonrpc: "2.0", id, result });
}

export function refusing(code: number, status = 200): (seen: Seen) => Response {
  return ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], error: { code, message: "SECRET" } }, { status });
}

/** Refuses as a server does that speaks these revisions. */
export function naming(...supported: readonly string[]): (seen: Seen) => Response {
  const error = { code: -32022, message: "SECRET", data: { supported } };
  return ({ body }) => json({ jsonrpc: "2.0", id: body["id"], error }, { status: 400 });
}

/** Streamable HTTP with sessions. It says that it has everything, unless told otherwise. */
export function legacyServer(
  methods: Methods,
  capabilities: JsonObject = { tools: {}, resources: {}, prompts: {} },
): Listing {
  return listing(async (seen, method) => {
    if (method === "initialize" && methods["initialize"] === undefined) {
      const result = {
        ...{ protocolVersion: "2025-06-18", capabilities, instructions: "Read me." },
        serverInfo: { name: "legacy", version: "1" },
      };
      return json({ jsonrpc: "2.0", id: seen.body["id"], result }, { headers: SESSION });
    }
    if (method === "DELETE") return new Response(null, { status: 200 });
    if (seen.body["id"] === undefined) return new Response(null, { status: 202 });
    const response = await reactBy(methods, seen, method);
    // Unknown methods are no unknown sessions in this era.
    return response.status === 404
      ? new Response(response.body, { headers: response.headers })
      : response;
  });
}

export const CACHEABLE = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" };

export function modernServer(
  methods: Methods,
  capabilities: JsonObject = { tools: {}, resources: {}, prompts: {} },
): Listing {
  const discovery = {
    ...{ ...CACHEABLE, supportedVersions: ["2026-07-28"], capabilities },
    ...{ instructions: "Read me.", serverInfo: { name: "modern", version: "1" } },
  };
  const all: Methods = { "server/discover": discovery, ...methods };
  return listing((seen, method) => reactBy(all, seen, method));
}
