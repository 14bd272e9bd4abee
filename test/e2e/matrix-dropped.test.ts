/**
 * A legacy client whose connection breaks in mid-call has cancelled nothing, whatever the server is:
 * it comes back for the rest, which is there, once.
 */

import { describe } from "vitest";

import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import { LEGACY_REVISIONS, OVER_SSE, REVISIONS } from "../support/revisions.ts";
import { cutInMidCall } from "./cut-in-mid-call.ts";
import { throughGateway } from "./matrix-suite.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

const endpointTo = throughGateway();
const CELLS = LEGACY_REVISIONS.filter((client) => client !== OVER_SSE).flatMap((client) =>
  REVISIONS.map((server) => ({ client, server })),
);

describe.each(CELLS)(
  "with a client of $client and a server of $server,",
  ({ client: revision, server }) => {
    test("a broken connection is resumed", async ({ expect, connect }) => {
      const tap = wiretap();
      const client = await connectAt(connect, revision, endpointTo(server), { fetch: tap.fetch });
      const result = await cutInMidCall(client, tap);
      expect(textOf(result)).toMatch("Let go");
      expect(client.progress.map(({ progress }) => progress)).toEqual([1, 2]);
      // It, and the one that let it go.
      expect(tap.noted.filter(({ rpc }) => rpc === "tools/call")).toHaveLength(2);
      expect(tap.noted.filter(({ lastEventId }) => lastEventId !== null)).toHaveLength(1);
    });
  },
);
