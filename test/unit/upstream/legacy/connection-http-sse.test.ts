/** Sessions over HTTP+SSE that a server forgets: none of their streams is left open. */

import { describe, test } from "vitest";

import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import { failureOf, fakeTarget, html, type Seen } from "../fake-target.ts";
import { sseServer } from "./legacy-servers.ts";

const { signal: never } = new AbortController();
const PEER = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };

/** A session at a server that refuses these methods, and how many of its streams are open. */
function connectionAt(refuses: (method: unknown, nth: number) => number | undefined): {
  readonly call: () => Promise<unknown>;
  readonly opened: () => number;
  readonly open: () => number;
} {
  const streams: Seen[] = [];
  const posted = new Map<unknown, number>();
  const serve = sseServer(() => html(404));
  const target = fakeTarget(
    (seen) => {
      if (seen.method === "GET") streams.push(seen);
      else {
        const { method, id } = seen.body;
        const nth = (posted.get(method) ?? 0) + 1;
        posted.set(method, nth);
        const status = refuses(method, nth);
        if (status !== undefined) return html(status);
        // A notification: nothing comes of it.
        if (id === undefined) return new Response("Accepted", { status: 202 });
      }
      return serve(seen);
    },
    { transport: "sse" },
  );
  const connection = new LegacyConnection({
    ...{ target, unsolicited: PEER, save: () => undefined },
    client: { revision: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
  });
  return {
    call: () =>
      failureOf(connection.request({ method: "tools/call", params: { name: "a" } }, PEER, never)),
    opened: () => streams.length,
    open: () => streams.filter(({ signal }) => signal?.aborted === false).length,
  };
}

describe("a session over HTTP+SSE", () => {
  test("that is forgotten leaves no stream behind", async ({ expect }) => {
    const { call, opened, open } = connectionAt((method, nth) =>
      method === "tools/call" && nth % 2 === 1 ? 404 : undefined,
    );
    for (let n = 1; n <= 3; n++) {
      expect(await call()).toBeUndefined();
      expect([opened(), open()]).toEqual([n + 1, 1]);
    }
  });

  test("that could not be made again leaves none either", async ({ expect }) => {
    const { call, opened, open } = connectionAt((method) =>
      method === "notifications/initialized" ? 500 : undefined,
    );
    for (let n = 1; n <= 3; n++) {
      expect(await call()).toMatchObject({ failure: "unreachable" });
      expect([opened(), open()]).toEqual([n, 0]);
    }
  });
});
