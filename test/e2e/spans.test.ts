/** The platform's spans of a call, as a streaming tail gets them: names, attributes, and what is in none. */

import { afterAll, beforeAll, describe, test } from "vitest";

import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";

const MARKER = "marker-of-an-argument";
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Span {
  readonly name: string;
  readonly parent: string;
  readonly traceId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface SpanLine {
  readonly traceId: string;
  readonly spanId: string;
  readonly event: {
    readonly type: "spanOpen" | "attributes";
    readonly name?: string;
    readonly spanId?: string;
    readonly info?: readonly { readonly name: string; readonly value: unknown }[];
  };
}

let gateway: Server;

beforeAll(async () => {
  const { fixture, everything } = sharedServers();
  const servers = { modern: { url: fixture }, legacy: { url: everything } };
  gateway = await startGateway({ servers, isTraced: true });
});
afterAll(() => gateway.stop());

/** The spans so far, by their ids. */
function spans(): ReadonlyMap<string, Span> {
  const found = new Map<string, Span>();
  for (const [, text = ""] of gateway.program.output().matchAll(/^SPAN (.*)$/gm)) {
    const { traceId, spanId, event } = JSON.parse(text) as SpanLine;
    const own = Object.fromEntries((event.info ?? []).map(({ name, value }) => [name, value]));
    const span = found.get(spanId);
    if (event.type === "spanOpen") {
      const { name = "", spanId: opened = "" } = event;
      found.set(opened, { name, parent: spanId, traceId, attributes: {} });
    } else if (span !== undefined) {
      found.set(spanId, { ...span, attributes: { ...span.attributes, ...own } });
    }
  }
  return found;
}

async function post(slug: string, method: string, params: object): Promise<Response> {
  const response = await fetch(`${gateway.url}/mcp/${slug}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...("name" in params ? { "Mcp-Name": String(params.name) } : {}),
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } },
    }),
  });
  await response.text();
  return response;
}

function traceOf(response: Response): string | undefined {
  return response.headers.get("traceresponse")?.split("-")[1];
}

describe("the spans of a call", () => {
  test.for([
    ["modern", "test_simple_text"],
    ["legacy", "echo"],
  ] as const)("T9: at a %s server", async ([slug, name], { expect }) => {
    const response = await post(slug, "tools/call", { name, arguments: { message: MARKER } });
    const traceId = traceOf(response);
    await expect
      .poll(() =>
        [...spans().values()].filter((span) => span.attributes["edgeway.trace_id"] === traceId),
      )
      .toMatchObject([
        {
          attributes: {
            ...{ "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" },
            ...{ "edgeway.server": slug, "edgeway.outcome": "ok", "enduser.pseudo.id": "local" },
            ...{ "edgeway.era.down": "modern", "edgeway.era.up": slug, "network.transport": "tcp" },
          },
        },
        {
          attributes: { "mcp.method.name": "tools/call", "server.address": "localhost" },
        },
      ]);
    // The platform's own trace, as the client sent none.
    const own = [...spans().values()].filter((span) => span.traceId === traceId);
    expect(own.map((span) => span.name)).toContain("fetch");
    expect(gateway.program.output()).not.toContain(MARKER);
  });

  test("say what failed, and have no name that a client made up", async ({ expect }) => {
    const response = await post("modern", "tools/call", { name: "made up", arguments: {} });
    const traceId = traceOf(response);
    await expect
      .poll(() =>
        [...spans().values()].find((span) => span.attributes["edgeway.trace_id"] === traceId),
      )
      .toMatchObject({
        name: "tools/call",
        attributes: { "gen_ai.tool.name": "_other", "error.type": "-32602" },
      });
    const names = [...spans().values()].map((span) => span.name);
    expect(names.join("\n")).not.toContain("made up");
  });
});
