/**
 * Stands before a gateway with several servers, for clients that know the tools and prompts of one
 * by their own names: puts the prefix on names that go in, and takes it off lists that come out.
 */

import type { IncomingHttpHeaders } from "node:http";
import { Transform } from "node:stream";

import { type GatewayProxy, startGatewayProxy } from "./gateway-proxy.ts";

export type RenamingProxy = GatewayProxy;

type Json = Record<string, unknown>;

const NAMED = new Set(["tools/call", "prompts/get"]);
/** The one header that has a name in it, by the method that another one names. */
const NAME_HEADER = "mcp-name";

export function startRenamingProxy(gateway: string, prefix: string): Promise<RenamingProxy> {
  return startGatewayProxy(gateway, {
    inward(headers, sent) {
      const body = Buffer.from(inward(sent.toString(), prefix));
      const { "content-length": _, "transfer-encoding": __, ...others } = headers;
      // What comes back is to be read here.
      delete others["accept-encoding"];
      const length = body.byteLength === 0 ? {} : { "content-length": body.byteLength };
      return { headers: { ...withPrefix(others, prefix), ...length }, body };
    },
    outward(answered) {
      const { "content-length": _, ...headers } = answered;
      const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
      return { headers, through: isStream ? eventsOutward(prefix) : wholeOutward(prefix) };
    },
  });
}

function withPrefix(headers: IncomingHttpHeaders, prefix: string): IncomingHttpHeaders {
  const name = headers[NAME_HEADER];
  const isNamed = NAMED.has(String(headers["mcp-method"]));
  return isNamed && typeof name === "string"
    ? { ...headers, [NAME_HEADER]: prefix + name }
    : headers;
}

/** A message of the client's; whatever is none is the gateway's to judge. */
function inward(body: string, prefix: string): string {
  const message = parse(body);
  const params = message?.["params"] as Json | undefined;
  if (message === undefined || typeof params !== "object" || params === null) return body;
  const { name, ref } = params;
  if (NAMED.has(String(message["method"])) && typeof name === "string") {
    return JSON.stringify({ ...message, params: { ...params, name: prefix + name } });
  }
  const prompt = (ref as Json | undefined)?.["name"];
  if (message["method"] === "completion/complete" && typeof prompt === "string") {
    const renamed = { ...(ref as Json), name: prefix + prompt };
    return JSON.stringify({ ...message, params: { ...params, ref: renamed } });
  }
  return body;
}

/** What is listed under the prefix loses it. */
function outward(text: string, prefix: string): string {
  const message = parse(text);
  const result = message?.["result"] as Json | undefined;
  if (message === undefined || typeof result !== "object" || result === null) return text;
  const changed: Json = { ...result };
  for (const list of ["tools", "prompts"]) {
    const items = result[list];
    if (!Array.isArray(items)) continue;
    changed[list] = items.map((item: Json) => {
      const name = String(item["name"]);
      return name.startsWith(prefix) ? { ...item, name: name.slice(prefix.length) } : item;
    });
  }
  return JSON.stringify({ ...message, result: changed });
}

function wholeOutward(prefix: string): Transform {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      done(null, outward(Buffer.concat(chunks).toString(), prefix));
    },
  });
}

function eventsOutward(prefix: string): Transform {
  let rest = "";
  return new Transform({
    decodeStrings: true,
    transform(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      const told = lines.map((line) =>
        line.startsWith("data: ") ? `data: ${outward(line.slice(6), prefix)}` : line,
      );
      done(null, told.length === 0 ? "" : `${told.join("\n")}\n`);
    },
    flush(done) {
      done(null, rest);
    },
  });
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Json)
      : undefined;
  } catch {
    return undefined;
  }
}
