/**
 * The `Mcp-Param-*` headers of calls, from the schemas of the tools that the host has listed (2026-07-28,
 * Streamable HTTP, custom headers).
 */

import {
  type ParamBinding,
  paramHeaders,
  readParamBindings,
} from "../../src/protocol/param-headers.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { type Message } from "../stdio/message.ts";

export class ToolHeaders {
  readonly #bindings = new Map<unknown, readonly ParamBinding[]>();

  /** Reads the tools of a result of `tools/list`. */
  learn({ parts }: Message): void {
    for (const part of parts) {
      const tools = part.kind === "response" ? part.result?.["tools"] : undefined;
      for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
        if (!isObject(tool)) continue;
        const reading = readParamBindings(tool["inputSchema"]);
        this.#bindings.set(tool["name"], reading.kind === "bindings" ? reading.bindings : []);
      }
    }
  }

  /** @param params of a `tools/call`. */
  of({ name, arguments: args }: JsonObject): Record<string, string> {
    const bindings = this.#bindings.get(name) ?? [];
    return Object.fromEntries(paramHeaders(bindings, isObject(args) ? args : undefined));
  }
}
