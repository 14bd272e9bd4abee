/**
 * A legacy client whose connection breaks in mid-call has cancelled nothing, whatever the server is:
 * it comes back for the rest, which is there, once.
 */

import { describe } from "vitest";

import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import { LEGACY_REVISIONS, OVER_SSE, REVISIONS } from "../support/revisions.ts";
import { throughGateway } from "./matrix-suite.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

const doorTo = throughGateway();
const CELLS = LEGACY_REVISIONS.filter((client) => client !== OVER_SSE).flatMap((client) =>
  REVISIONS.map((server) => ({ client, server })),
);

describe.each(CELLS)("client of $client, server of $server", ({ client: revision, server }) => {
  test("a connection that breaks is taken up", async ({ expect, connect }) => {
    const tap = wiretap();
    const client = await connectAt(connect, revision, doorTo(server), { fetch: tap.fetch });
    let isCut = false;
    const onprogress = (): void => {
      if (!isCut) tap.cut("calls");
      isCut = true;
    };
    const result = await client.callTool("test_tool_with_progress", {}, { onprogress });
    expect(textOf(result)).toBe("Tool with progress executed successfully");
    expect(client.progress.map(({ progress }) => progress)).toEqual([0, 50, 100]);
    expect(tap.noted.filter(({ rpc }) => rpc === "tools/call")).toHaveLength(1);
    expect(tap.noted.filter(({ lastEventId }) => lastEventId !== null)).toHaveLength(1);
  });
});
