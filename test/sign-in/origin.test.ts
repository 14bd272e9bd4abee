/** Which hosts and which pages are served when people sign in. */

import { beforeAll, describe, test } from "vitest";

import { initializeMessage, modernCall, post, send } from "../integration/client.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";

const MCP = `${ORIGIN}/mcp/alpha`;
const METADATA = "/.well-known/oauth-protected-resource";

let token: string;

beforeAll(async () => {
  token = (await (await Person.signIn()).key()).token;
});

describe("a page of an origin that is not listed", () => {
  test.for([
    "https://evil.example",
    "null",
    "http://claude.ai",
    "https://gw.example.com.evil.example",
  ])("B14, B15: %s is refused, whatever credentials it sends", async (origin, { expect }) => {
    for (const headers of [{ Origin: origin }, { Origin: origin, ...as(token) }]) {
      for (const response of [
        await post(MCP, initializeMessage(), headers),
        await send(MCP, { headers }),
        await send(MCP, { method: "OPTIONS", headers }),
        await send(`${ORIGIN}/sse/alpha`, { headers }),
        await post(`${ORIGIN}/sse/alpha/message?sessionId=x`, {}, headers),
      ]) {
        expect(response.status).toBe(403);
        expect(response.headers.has("access-control-allow-origin")).toBe(false);
        expect(await response.json()).toEqual({
          jsonrpc: "2.0",
          error: { code: -32000, message: expect.stringContaining("origin is not allowed") },
        });
      }
    }
  });

  test("may request the documents that lead to a token, without credentials", async ({
    expect,
  }) => {
    for (const path of [METADATA, "/token", "/register"]) {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const headers = { Origin: "https://any.example" };
        const response = await send(ORIGIN + path, { method, headers });
        expect(response.status).not.toBe(403);
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
        expect(response.headers.has("access-control-allow-credentials")).toBe(false);
        await response.text();
      }
    }
  });

  test("cannot read the pages for people", async ({ expect }) => {
    for (const origin of ["https://any.example", "https://app.example.com", "https://claude.ai"]) {
      for (const path of ["/", "/login", "/account", "/authorize"]) {
        const response = await send(ORIGIN + path, { headers: { Origin: origin } });
        expect(response.headers.has("access-control-allow-origin")).toBe(false);
        await response.text();
      }
    }
  });
});

describe("a page of an origin that is listed", () => {
  const LISTED = [ORIGIN, "https://app.example.com", "https://claude.ai", "https://chatgpt.com"];
  test.for([...LISTED, "http://localhost:6274"])(
    "B17, B18: %s may request, and read every response",
    async (origin, { expect }) => {
      const asking = {
        ...{ Origin: origin, "Access-Control-Request-Method": "POST" },
        "Access-Control-Request-Headers": "authorization,mcp-protocol-version,mcp-session-id",
      };
      const preflight = await send(MCP, { method: "OPTIONS", headers: asking });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-headers")).toBe(
        "authorization, mcp-protocol-version, mcp-session-id",
      );
      const headers = { Origin: origin };
      const good = { ...headers, ...as(token) };
      const answers = [
        await post(MCP, initializeMessage(), headers),
        await post(MCP, initializeMessage(), { ...headers, ...as("garbage") }),
        await post(`${ORIGIN}/mcp/beta`, initializeMessage(), good),
        await post(MCP, initializeMessage(), good),
        await modernCall({ mcp: MCP }, { headers: good }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200, 200]);
      for (const response of [preflight, ...answers]) {
        expect(response.headers.get("access-control-allow-origin")).toBe(origin);
        expect(response.headers.has("access-control-allow-credentials")).toBe(false);
        expect(response.headers.get("vary")).toContain("Origin");
        const exposed = response.headers.get("access-control-expose-headers");
        expect(exposed).toContain("WWW-Authenticate");
        expect(exposed).toContain("Mcp-Session-Id");
        await response.text();
      }
    },
  );
});

describe("a host", () => {
  test("B12: that is not ours is refused, and is not repeated in the response", async ({
    expect,
  }) => {
    const paths = ["/.well-known/oauth-authorization-server", METADATA, "/mcp/alpha", "/"];
    // The second as the platform calls every Worker beside its own name.
    for (const host of ["evil.example", "edgeway.account.workers.dev"]) {
      for (const path of paths) {
        const response = await send(`https://${host}${path}`, { headers: as(token) });
        expect(response.status).toBe(421);
        expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(host);
      }
    }
  });

  test("B13: that a proxy header claims is ignored", async ({ expect }) => {
    const claims = {
      ...{ "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http" },
      ...{ Forwarded: "host=evil.example", "X-Original-Host": "evil.example" },
    };
    for (const path of [
      METADATA,
      `${METADATA}/mcp/alpha`,
      "/.well-known/oauth-authorization-server",
    ]) {
      const [plain, claimed] = [
        await send(ORIGIN + path),
        await send(ORIGIN + path, { headers: claims }),
      ];
      expect(await claimed.text()).toBe(await plain.text());
      expect(claimed.status).toBe(plain.status);
    }
    const refused = await post(MCP, {}, claims);
    expect(refused.headers.get("www-authenticate")).toContain(`"${ORIGIN}${METADATA}/mcp/alpha"`);
    await refused.text();
  });

  test("B114: over http is redirected to https, and is not served", async ({ expect }) => {
    const http = "http://gw.example.com";
    const led = await send(`${http}/login?next=1`, { redirect: "manual" });
    expect([led.status, led.headers.get("location")]).toEqual([308, `${ORIGIN}/login?next=1`]);
    for (const path of ["/mcp/alpha", "/token", "/login"]) {
      const refused = await post(http + path, initializeMessage(), as(token));
      expect(refused.status).toBe(403);
      await refused.text();
    }
  });
});
