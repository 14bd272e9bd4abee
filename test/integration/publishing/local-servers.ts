/** Local servers of both eras: what a program on a person's machine answers on its stdout. */

import type { LaptopChannel, LocalServer, Received } from "./laptop.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";

const INFO = { name: "local", version: "1.0.0" };
const CAPABILITIES = { tools: { listChanged: true }, logging: {} };

/** What a tool does. @returns its result; `undefined` when it answers by itself, or never. */
export type Tool = (message: Received, channel: LaptopChannel) => Json | undefined;

export interface LocalServerOptions {
  readonly tools: Readonly<Record<string, Tool>>;
}

export function text(said: string): Json {
  return { content: [{ type: "text", text: said }] };
}

function toolList({ tools }: LocalServerOptions): readonly Json[] {
  return Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));
}

/** A server of 2025-11-25, which answers nothing before it was introduced. */
export function legacyServer(options: LocalServerOptions): LocalServer {
  const introduced = new Set<string>();
  return (message, channel) => {
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return;
    if (method === "initialize") introduced.add(channel.id);
    if (!introduced.has(channel.id)) {
      channel.say({ id, error: { code: -32600, message: "Not initialized" } });
      return;
    }
    const answer = (result: Json): void => channel.say({ id, result });
    switch (method) {
      case "initialize":
        return answer({
          ...{ protocolVersion: params["protocolVersion"], serverInfo: INFO },
          capabilities: CAPABILITIES,
        });
      case "tools/list":
        return answer({ tools: toolList(options) });
      case "tools/call": {
        const result = options.tools[String(params["name"])]?.(message, channel);
        if (result !== undefined) answer(result);
        return undefined;
      }
      case "ping":
        return answer({});
      default:
        return channel.say({ id, error: { code: -32601, message: "Method not found" } });
    }
  };
}

/** A server of 2026-07-28. */
export function modernServer(options: LocalServerOptions): LocalServer {
  return (message, channel) => {
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return;
    const answer = (result: Json): void =>
      channel.say({ id, result: { resultType: "complete", ...result } });
    const cached = { ttlMs: 60_000, cacheScope: "public" };
    switch (method) {
      case "server/discover":
        return answer({
          ...{ supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES, ...cached },
          _meta: { "io.modelcontextprotocol/serverInfo": INFO },
        });
      case "tools/list":
        return answer({ tools: toolList(options), ...cached });
      case "tools/call": {
        const result = options.tools[String(params["name"])]?.(message, channel);
        if (result !== undefined) answer(result);
        return undefined;
      }
      case "subscriptions/listen":
        return channel.say({
          method: "notifications/subscriptions/acknowledged",
          params: {
            notifications: params["notifications"],
            _meta: { "io.modelcontextprotocol/subscriptionId": id },
          },
        });
      default:
        return channel.say({ id, error: { code: -32601, message: "Method not found" } });
    }
  };
}
