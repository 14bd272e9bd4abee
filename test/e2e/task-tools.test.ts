/**
 * A tool that its server runs as a task and in no other way, for clients that have no tasks there: they
 * are of an older revision, or reach the server where it is one of several. The result is a plain one.
 */

import { afterAll, beforeAll, inject } from "vitest";

import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import { REVISIONS } from "../support/revisions.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { textOf } from "./outcome.ts";

let gateway: Server;

beforeAll(async () => {
  const everything = { url: inject("everything") };
  gateway = await startGateway({ servers: { everything, fixture: { url: inject("fixture") } } });
});
afterAll(() => gateway.stop());

const atEverything = (door: string): string => `${gateway.url}/${door}/everything`;

test.for(REVISIONS)(
  "at several servers, for a client of %s",
  async (revision, { connect, expect }) => {
    const client = await connectAt(connect, revision, (door) => `${gateway.url}/${door}`);
    const name = "everything__simulate-research-query";
    const result = await client.callTool(name, { topic: "tea" });
    expect(result["isError"]).toBeUndefined();
    expect(textOf(result)).toContain("# Research Report: tea");
  },
);

test.for(REVISIONS.filter((revision) => revision !== "2025-11-25"))(
  "at one server, for a client of %s",
  async (revision, { connect, expect }) => {
    const client = await connectAt(connect, revision, atEverything);
    const result = await client.callTool("simulate-research-query", { topic: "tea" });
    expect(textOf(result)).toContain("# Research Report: tea");
  },
);
