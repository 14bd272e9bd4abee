/** An MCP endpoint that is opened in a browser leads to the page with the instructions. */

import { describe, test } from "vitest";

import { send } from "../integration/client.ts";
import { gateway, newBrowser, ORIGIN } from "./gateway.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const get = (path: string, accept: string): Promise<Response> =>
  gateway.send(ORIGIN + path, { method: "GET", headers: { Accept: accept } });

describe("an endpoint", () => {
  test.for(["/mcp", "/mcp/alpha", "/sse", "/sse/alpha"])(
    "%s that is opened in a browser shows how to connect",
    async (path, { expect }) => {
      const response = await get(path, BROWSER);
      expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
      expect(response.headers.get("vary")).toContain("Accept");
      const page = await newBrowser().visit(path);
      expect([page.status, page.url.pathname]).toEqual([200, "/"]);
      expect(page.text).toContain(`${ORIGIN}/mcp`);
    },
  );

  test.for([
    ["/mcp", "text/event-stream"],
    ["/mcp", "application/json, text/event-stream"],
    ["/mcp", "text/event-stream, text/html"],
    ["/mcp", "*/*"],
    ["/sse", "text/event-stream"],
  ] as const)("%s answers as to a client with Accept: %s", async ([path, accept], { expect }) => {
    const response = await get(path, accept);
    await response.text();
    expect(response.status).toBe(401);
  });

  test("that does not exist is not found in a browser either", async ({ expect }) => {
    const response = await get("/mcp/nobody", BROWSER);
    expect([response.status, await response.text()]).toEqual([404, expect.any(String)]);
  });

  test("accepts its requests, whatever their Accept header", async ({ expect }) => {
    const response = await send(`${ORIGIN}/mcp`, { method: "POST", headers: { Accept: BROWSER } });
    await response.text();
    expect(response.status).toBe(401);
  });
});
