/**
 * Each 503 that a POST may get from the gateway is one that the command `edgeway` takes for the gateway's own: the
 * request did not run, and is sent again. After any other one, a call is not.
 */

import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, test, vi } from "vitest";

import { isOwnRefusal } from "../../../cli/http/gateway.ts";
import { cannotJudge } from "../../../src/auth/resource/challenge.ts";
import { inStreamPlace } from "../../../src/http/stream-places.ts";
import worker from "../../../src/index.ts";
import { startAnewUnasked } from "../added-server.ts";
import { ORIGIN } from "../client.ts";

afterEach(() => void vi.restoreAllMocks());

async function judged(response: Response): Promise<object> {
  const text = await response.text();
  return { status: response.status, isOwn: isOwnRefusal(response, text) };
}

const OWN = { status: 503, isOwn: true };

async function ask(
  url: string,
  vars: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const request = new Request(url, { method: "POST", headers });
  return worker.fetch(request, { ...env, ...vars }, createExecutionContext());
}

const BAD = { bad: { url: "https://example.com/mcp", headers: { "X-Key": "${NOT_SET}" } } };
const OFF = { off: { url: "https://example.com/mcp", disabled: true } };

describe("a refusal", () => {
  test.for([
    ["for mistakes in the configuration", "https://a.example/mcp", { AUTH_MODE: "open" }],
    ["of another host", "http://a.example/mcp", {}],
    ["without a public origin", "https://a.example/mcp", { AUTH_MODE: "oauth" }],
    ["for a server with a mistake", `${ORIGIN}/mcp/bad`, { MCP_SERVERS: JSON.stringify(BAD) }],
    ["for a server that is off", `${ORIGIN}/mcp/off`, { MCP_SERVERS: JSON.stringify(OFF) }],
    ["while no server is served", `${ORIGIN}/mcp`, { MCP_SERVERS: JSON.stringify(OFF) }],
    ["without a server", `${ORIGIN}/mcp`, { MCP_SERVERS: "{}" }],
  ] as const)("%s is the gateway's own", async ([, url, vars], { expect }) => {
    expect(await judged(await ask(url, vars))).toEqual(OWN);
  });

  test("of another machine is the gateway's own", async ({ expect }) => {
    expect(await judged(await ask(`${ORIGIN}/mcp`, {}, { "CF-Ray": "1" }))).toEqual(OWN);
  });

  test("while nobody knows the added servers is the gateway's own", async ({ expect }) => {
    const { asked } = await startAnewUnasked();
    expect(await judged(await ask(`${ORIGIN}/mcp/nobody`))).toEqual(OWN);
    asked();
  });

  test("for the streams of all is the gateway's own", async ({ expect }) => {
    const request = new Request(`${ORIGIN}/mcp`, { method: "POST" });
    const limits = { streamsPerPerson: 1, streamsPerIsolate: 0 };
    const refused = await inStreamPlace(request, "nobody", limits, async () => new Response());
    expect(await judged(refused)).toEqual(OWN);
  });

  test("of a token that cannot be judged is the gateway's own", async ({ expect }) => {
    expect(await judged(cannotJudge())).toEqual(OWN);
  });
});
