/** Bodies that are too long or too deep are refused before they cost anything. */

import { describe, test } from "vitest";

import { BOTH_TYPES, post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const MAX_BODY_BYTES = 65_536;
const MAX_DEPTH = 32;

/** A JSON-RPC message of exactly so many bytes. */
function messageOf(bytes: number): string {
  const [before = "", after = ""] = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "ping",
    params: { pad: "#" },
  }).split("#");
  return before + "x".repeat(bytes - before.length - after.length) + after;
}

/** Comes in small chunks, and counts how many were taken. */
function trickle(text: string): { body: ReadableStream<Uint8Array>; taken: () => number } {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 1024));
      at += 1024;
    },
  });
  return { body, taken: () => at };
}

function nested(depth: number): string {
  const arrays = depth - 2; // within the message and its params
  return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(arrays)}${"]".repeat(arrays)}}}`;
}

describe("a body", () => {
  test("at the limit is accepted, whole or in chunks", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const text = messageOf(MAX_BODY_BYTES);
    const whole = await post(upstream.mcp, text, session.headers);
    expect(await responseIn(whole)).toMatchObject({ id: 1, result: {} });
    const headers = { "Content-Type": "application/json", Accept: BOTH_TYPES, ...session.headers };
    const chunked = await send(upstream.mcp, { method: "POST", headers, body: trickle(text).body });
    expect(await responseIn(chunked)).toMatchObject({ id: 1, result: {} });
  });

  test("over the limit is refused with 413", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "dual" });
    const response = await post(upstream.mcp, messageOf(MAX_BODY_BYTES + 1));
    expect(response.status).toBe(413);
    const message = await responseIn(response);
    expect(message.error).toMatchObject({ code: -32600 });
    expect(message.error?.message).toContain(String(MAX_BODY_BYTES));
    expect(await upstream.log()).toHaveLength(0);
  });

  test("over the limit in chunks is refused before it is read to the end", async ({ expect }) => {
    const { body, taken } = trickle(messageOf(20 * MAX_BODY_BYTES));
    const headers = { "Content-Type": "application/json", Accept: BOTH_TYPES };
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await send(upstream.mcp, { method: "POST", headers, body });
    expect(response.status).toBe(413);
    await response.text();
    expect(taken()).toBeLessThan(4 * MAX_BODY_BYTES);
  });

  test("that declares too much is refused unread", async ({ expect }) => {
    const { body, taken } = trickle("{}");
    const upstream = await Upstream.take({ server: "legacy" });
    const headers = {
      "Content-Type": "application/json",
      Accept: BOTH_TYPES,
      "Content-Length": "999999999",
    };
    const response = await send(upstream.mcp, { method: "POST", headers, body });
    expect(response.status).toBe(413);
    await response.text();
    expect(taken()).toBeLessThanOrEqual(1024);
  });

  // Through a binding, as here, the platform holds nobody to the length that a body declares.
  test.for([
    { declared: 10, bytes: 50_000, status: 200 },
    { declared: MAX_BODY_BYTES, bytes: 100, status: 200 },
    { declared: 10, bytes: 20 * MAX_BODY_BYTES, status: 413 },
    { declared: MAX_BODY_BYTES, bytes: 20 * MAX_BODY_BYTES, status: 413 },
  ])(
    "of $bytes bytes that declares $declared gets $status",
    async ({ declared, bytes, status }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await Session.open(upstream.mcp);
      const { body, taken } = trickle(messageOf(bytes));
      const type = { "Content-Type": "application/json", Accept: BOTH_TYPES };
      const headers = { ...type, ...session.headers, "Content-Length": String(declared) };
      const response = await send(upstream.mcp, { method: "POST", headers, body });
      expect(response.status).toBe(status);
      if (status === 200) expect(await responseIn(response)).toMatchObject({ id: 1, result: {} });
      else await response.text();
      expect(taken()).toBeLessThan(4 * MAX_BODY_BYTES);
    },
  );

  test("that is not UTF-8 gets 400, whatever it declares", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const broken = Uint8Array.from([0x22, 0xf0, 0x9f, 0x98, 0x22]);
    for (const declared of [undefined, "5", "3"]) {
      const response = await send(upstream.mcp, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: BOTH_TYPES,
          ...(declared === undefined ? {} : { "Content-Length": declared }),
        },
        body: broken,
      });
      expect(response.status).toBe(400);
      expect((await responseIn(response)).error?.message).toBe("The body is not UTF-8");
    }
  });

  test.for([
    { name: "at the limit", text: nested(MAX_DEPTH), status: 200 },
    { name: "over the limit", text: nested(MAX_DEPTH + 1), status: 400 },
    { name: "far over the limit", text: nested(30_000), status: 400 },
    { name: "without an end", text: "[".repeat(60_000), status: 400 },
    {
      name: "only within a string",
      text: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\"${"[".repeat(500)}"}}`,
      status: 200,
    },
  ])("that nests $name gets $status", async ({ text, status }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const response = await post(upstream.mcp, text, session.headers);
    expect(response.status).toBe(status);
    if (status === 400) expect((await responseIn(response)).error?.code).toBe(-32600);
    else await response.text();
  });
});
