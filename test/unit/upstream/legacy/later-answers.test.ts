/** Answers that come when the object that asked has lost its memory: they go to the session that asked, or nowhere. */

import { describe, test } from "vitest";

import type { Peer } from "../../../../src/protocol/exchange.ts";
import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import { type Answer, bodyOf, bytesOf, failureOf, fakeTarget, html, json } from "../fake-target.ts";
import { EVENTS, handshake, sseServer } from "./legacy-servers.ts";

const { signal: never } = new AbortController();
const CLIENT = {
  revision: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
} as const;
const QUESTION = { jsonrpc: "2.0", id: 0, method: "elicitation/create", params: { message: "?" } };
const REPLY = { result: { action: "accept" } };

interface Asked {
  /** The session in which the question came. */
  readonly saved: SavedConnection;
  readonly resumeToken: string;
  /** What a later life of the connection sends with the answer. @returns the sessions that got it. */
  readonly answer: (saved: SavedConnection) => Promise<readonly (string | null)[]>;
}

/** A server that counts its sessions, and the requests in each: the first question of each has the id 0. */
async function askedAt(hasSessions: boolean): Promise<Asked> {
  let count = 0;
  const answered: (string | null)[] = [];
  const serve: Answer = ({ method, headers, body }) => {
    if (method !== "POST") return new Response(null, { status: 405 });
    const { id, method: called } = body;
    if (called === "initialize") {
      count += 1;
      const own = hasSessions ? { headers: { "Mcp-Session-Id": `session-${count}` } } : {};
      return json({ jsonrpc: "2.0", id, result: handshake }, own);
    }
    if (called === "tools/call")
      return new Response(bodyOf([bytesOf(`data: ${JSON.stringify(QUESTION)}\n\n`)]), {
        headers: EVENTS,
      });
    if (id === 0) answered.push(headers.get("mcp-session-id"));
    return new Response(null, { status: 202 });
  };
  const target = fakeTarget(serve, { transport: "streamable-http" });
  const states: SavedConnection[] = [];
  const tokens: (string | undefined)[] = [];
  const peer: Peer = {
    notify: () => Promise.resolve(),
    ask: (_question, _withdrawn, resumeToken) => {
      tokens.push(resumeToken);
      return new Promise(() => undefined);
    },
  };
  const open = (saved?: SavedConnection): LegacyConnection =>
    new LegacyConnection({
      ...{ target, unsolicited: peer, save: (state) => void states.push(state), saved },
      client: CLIENT,
    });
  await failureOf(open().request({ method: "tools/call", params: { name: "a" } }, peer, never));
  const [saved] = states;
  const [resumeToken] = tokens;
  if (saved === undefined || resumeToken === undefined) throw new Error("Nothing was asked");
  const answer: Asked["answer"] = async (state) => {
    if (!(await open(state).answer(resumeToken, REPLY))) throw new Error("It was not sent");
    return answered.splice(0);
  };
  return { saved, resumeToken, answer };
}

describe("an answer of a later life", () => {
  test("goes to the session in which the question came", async ({ expect }) => {
    const { saved, answer } = await askedAt(true);
    expect(await answer(saved)).toEqual(["session-1"]);
  });

  test("goes to no other session, where the same id is another question", async ({ expect }) => {
    const { saved, answer } = await askedAt(true);
    expect(await answer({ ...saved, sessionId: "session-2" })).toEqual([]);
  });

  test("goes to a server that has no sessions", async ({ expect }) => {
    const { saved, answer } = await askedAt(false);
    expect(await answer(saved)).toEqual([null]);
  });

  test("goes to no other stream of HTTP+SSE, which is the session", async ({ expect }) => {
    const posted: unknown[] = [];
    const serve = sseServer(() => html(404));
    const target = fakeTarget(
      (seen) => {
        if (seen.method === "POST") posted.push(seen.body["method"] ?? seen.body["id"]);
        return serve(seen);
      },
      { transport: "sse" },
    );
    const { resumeToken } = await askedAt(true);
    const connection = new LegacyConnection({
      ...{ target, save: () => undefined },
      unsolicited: { notify: () => Promise.resolve(), ask: () => Promise.resolve(REPLY) },
      client: CLIENT,
    });
    await connection.open();
    expect(await connection.answer(resumeToken, REPLY)).toBe(true);
    expect(posted).toEqual(["initialize"]);
  });
});
