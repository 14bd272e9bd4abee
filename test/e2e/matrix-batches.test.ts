/** A batch of 2025-03-26, before servers of every revision: each of its requests gets its answer. */

import { describe } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { INITIALIZE, type RawSession } from "../support/raw-session.ts";
import { readEvents } from "../support/read-events.ts";
import { REVISIONS } from "../support/revisions.ts";
import { throughGateway } from "./matrix-suite.ts";

const REVISION = "2025-03-26";
const HEADERS = {
  Accept: "application/json, text/event-stream",
  "Content-Type": "application/json",
} as const;

const endpointTo = throughGateway();

/** Opens a session as a client of that revision does, which knows of no version header. */
async function openSession(url: string): Promise<RawSession> {
  const params = { ...INITIALIZE.params, protocolVersion: REVISION };
  const body = JSON.stringify({ ...INITIALIZE, params });
  const response = await fetch(url, { method: "POST", headers: HEADERS, body });
  const id = response.headers.get("mcp-session-id") ?? "";
  await response.text();
  const session = { url, id, headers: { ...HEADERS, "Mcp-Session-Id": id } };
  await send(session, { jsonrpc: "2.0", method: "notifications/initialized" });
  return session;
}

/** @returns every message of the answer, whichever form it takes. */
async function send({ url, headers }: RawSession, message: object): Promise<readonly Json[]> {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    const text = await response.text();
    return text === "" ? [] : [JSON.parse(text) as Json].flat();
  }
  const messages: Json[] = [];
  await readEvents(response, {
    event: ({ data }) => {
      if (data !== "") messages.push(JSON.parse(data) as Json);
    },
  });
  return messages;
}

function request(id: number, method: string, params: Json): Json {
  return { jsonrpc: "2.0", id, method, params };
}

describe.each(REVISIONS)("a batch before a server of %s", (server) => {
  test("is answered request by request", async ({ expect }) => {
    const session = await openSession(endpointTo(server)("mcp"));
    const answers = await send(session, [
      request(1, "tools/call", { name: "test_simple_text", arguments: {} }),
      request(2, "prompts/list", {}),
      { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
      request(3, "tools/call", { name: "no_such_tool", arguments: {} }),
      request(4, "ping", {}),
    ]);
    const byId = answers.toSorted((a, b) => Number(a["id"]) - Number(b["id"]));
    expect(byId).toMatchObject([
      { id: 1, result: { content: [{ type: "text" }] } },
      { id: 2, result: { prompts: expect.any(Array) as unknown } },
      { id: 3, error: { code: -32_602 } },
      { id: 4, result: {} },
    ]);
  });
});
