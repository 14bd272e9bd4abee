/**
 * Stands before a gateway with several servers, for clients that know the tools and prompts of one
 * by their own names: puts the prefix on names that go in, and takes it off lists that come out. All
 * else goes through as it is, a foreign `Host` included.
 */

import { createServer, type IncomingHttpHeaders, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";

export interface RenamingProxy {
  readonly origin: string;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

const NAMED = new Set(["tools/call", "prompts/get"]);
/** The one header that has a name in it, by the method that another one names. */
const NAME_HEADER = "mcp-name";

export async function startRenamingProxy(gateway: string, prefix: string): Promise<RenamingProxy> {
  const { hostname, port, host } = new URL(gateway);
  const server = createServer((incoming, outgoing) => {
    const own = `localhost:${(server.address() as AddressInfo).port}`;
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method, url, headers } = incoming;
      const body = inward(Buffer.concat(chunks).toString(), prefix);
      const { "content-length": _, "transfer-encoding": __, ...others } = headers;
      // What comes back is to be read here.
      delete others["accept-encoding"];
      const onward = forward(
        {
          ...{ hostname, port, method, path: url },
          headers: {
            ...withPrefix(others, prefix),
            host: headers.host === own ? host : headers.host,
            ...(body === "" ? {} : { "content-length": Buffer.byteLength(body) }),
          },
        },
        (answer) => {
          const { "content-length": ___, ...told } = answer.headers;
          outgoing.writeHead(answer.statusCode ?? 502, told);
          outgoing.flushHeaders();
          const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
          answer.pipe(isStream ? eventsOutward(prefix) : wholeOutward(prefix)).pipe(outgoing);
          answer.on("error", () => outgoing.destroy());
        },
      );
      onward.on("error", () => outgoing.destroy());
      // A client that hangs up hangs up on the gateway.
      outgoing.on("close", () => onward.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
