/**
 * A tool that its server runs as a task and in no other way, for clients that have no tasks there: they
 * are of another era or an older revision, or reach the server where it is one of several. The result is
 * a plain one.
 */

import { afterAll, beforeAll, describe, vi } from "vitest";

import { connectAt } from "../support/clients-at.ts";
import type { Client, Connect, ConnectOptions } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { type EraFilter, startEraFilter } from "../support/era-filter.ts";
import { LEGACY_REVISIONS, type LegacyRevision, REVISIONS } from "../support/revisions.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";
import { type Noted, startTaskWire, type TaskWire } from "./task-wire.ts";

let gateway: Server;
let modernOnly: EraFilter;
let wire: TaskWire;

beforeAll(async () => {
  modernOnly = await startEraFilter(sharedServers().fixture, { era: "modern" });
  wire = await startTaskWire(modernOnly.url);
  const everything = { url: sharedServers().everything };
  gateway = await startGateway({ servers: { everything, fixture: { url: wire.url } } });
});
afterAll(async () => {
  await gateway.stop();
  await wire.close();
  await modernOnly.close();
});

const atEverything = (transport: string): string => `${gateway.url}/${transport}/everything`;

test.for(REVISIONS)(
  "at several servers, for a client of %s",
  async (revision, { connect, expect }) => {
    const client = await connectAt(connect, revision, (transport) => `${gateway.url}/${transport}`);
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

const PLACES = [
  {
    ...{ place: "at several servers", path: "", prefix: "fixture__" },
    // Of several servers, each result names its own.
    named: { _meta: { "edgeway/server": "fixture" } },
  },
  { place: "at one server", path: "/fixture", prefix: "", named: {} },
] as const;

const isOfCalls = ({ method }: Noted): boolean =>
  method === "tools/call" || method.startsWith("tasks/");

/** What the server was sent of calls and their tasks from here on. */
function listen(): () => readonly Noted[] {
  const before = wire.noted.length;
  return () => wire.noted.slice(before).filter(isOfCalls);
}

const REFUSED = { method: "tools/call", status: 400 };
const RAN = { method: "tools/call", status: 200 };

describe.for(PLACES)("a task tool of a modern server, $place,", ({ path, prefix, named }) => {
  const connectTo = (
    connect: Connect,
    revision: LegacyRevision,
    options?: ConnectOptions,
  ): Promise<Client> =>
    connectAt(connect, revision, (transport) => `${gateway.url}/${transport}${path}`, options);

  test.for(LEGACY_REVISIONS)("fails as tools do, at %s", async (revision, { connect, expect }) => {
    const client = await connectTo(connect, revision);
    const received = listen();
    expect(await client.callTool(`${prefix}failing_job`)).toEqual({
      ...named,
      content: [{ type: "text", text: "The job failed" }],
      isError: true,
    });
    const [refused, ran, ...polls] = received();
    expect([refused, ran]).toMatchObject([REFUSED, RAN]);
    expect(new Set(polls.map(({ method }) => method))).toEqual(new Set(["tasks/get"]));
    expect(new Set(polls.map(({ name }) => name)).size).toBe(1);
    expect(client.errors).toEqual([]);
  });

  test.for(["2025-06-18", "2025-11-25"] as const)(
    "asks the client, at %s",
    async (revision, { connect, expect }) => {
      const client = await connectTo(connect, revision);
      const deleted = await client.callTool(`${prefix}confirm_delete`, { filename: "a.txt" });
      expect(textOf(deleted)).toBe("Deleted a.txt");
      expect(textOf(await client.callTool(`${prefix}multi_input`))).toBe("2 of 2 accepted");
      // What it asks before it is a task is asked as ever.
      expect(textOf(await client.callTool(`${prefix}test_tool_with_task`))).toMatch(/^Hello, .+!$/);
      const questions = client.asked.map(({ method, params }) => [method, params["message"]]);
      expect(questions.slice(0, 3)).toEqual([
        ["elicitation/create", expect.stringContaining("Delete a.txt?")],
        ["elicitation/create", expect.stringContaining("First?")],
        ["elicitation/create", expect.stringContaining("Second?")],
      ]);
      expect(questions).toHaveLength(4);
      expect(client.errors).toEqual([]);
    },
  );

  test.for(["2024-11-05", "2025-03-26"] as const)(
    "returns the question that it would ask, at %s",
    async (revision, { connect, expect }) => {
      const client = await connectTo(connect, revision);
      const result = await client.callTool(`${prefix}confirm_delete`, { filename: "a.txt" });
      expect(result["isError"]).toBe(true);
      expect(textOf(result)).toBe(
        'Upstream "fixture" needs elicitation, which this client does not have',
      );
    },
  );

  test.for(LEGACY_REVISIONS)(
    "is called plainly if it can do without a task, at %s",
    async (revision, { connect, expect }) => {
      const client = await connectTo(connect, revision);
      const result = await client.callTool(`${prefix}slow_compute`, { seconds: 0, label: "tea" });
      expect(textOf(result)).toBe("Computed tea");
    },
  );

  test("is cancelled with the call", async ({ connect, expect }) => {
    const giveUp = new AbortController();
    const asked = Promise.withResolvers<void>();
    const client = await connectTo(connect, "2025-11-25", {
      answers: {
        elicitation() {
          asked.resolve();
          return new Promise(() => undefined);
        },
      },
    });
    const received = listen();
    const { signal } = giveUp;
    const args = { filename: "a.txt" };
    const call = client.callTool(`${prefix}confirm_delete`, args, { signal });
    const gaveUp = expect(call).rejects.toThrow("no longer needed");
    await asked.promise;
    giveUp.abort(new Error("no longer needed"));
    await gaveUp;
    await vi.waitFor(() => expect(received().at(-1)).toMatchObject({ method: "tasks/cancel" }), {
      timeout: 30_000,
    });
    const [poll, cancel] = received().slice(-2);
    expect(cancel).toEqual({ method: "tasks/cancel", name: poll?.name, status: 200 });
  });
});
