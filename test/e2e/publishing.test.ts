/**
 * Servers of a laptop at a real gateway: published by the command, called by the official SDKs of both eras. What
 * breaks on the way breaks here as well: the local server, the command, the gateway.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test as base } from "vitest";

import { findBrowser } from "../support/browser.ts";
import { type Client, type Connect, type Json, KINDS } from "../support/clients-face.ts";
import { test as withClients } from "../support/clients.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { LOCAL_SERVER, published, PublishingMachine } from "../support/laptop-command.ts";
import { NODE, ROOT } from "../support/process.ts";
import { startGateway } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { outcomeOf, textOf } from "./outcome.ts";

const PACKAGES = `${ROOT}node_modules`;
/** The table of acceptance: a gateway that was away has its servers back within this time. */
const BACK_MS = 35_000;

let gateway: KillableGateway;

beforeAll(async () => {
  gateway = await startKillableGateway({
    servers: { demo: { service: "DEMO" } },
    vars: { PUBLISHING: "on" },
  });
});
afterAll(() => gateway.remove());

const test = withClients.extend(
  "machine",
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  async ({}, { onCleanup }): Promise<PublishingMachine> => {
    const machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
    onCleanup(() => machine.turnOff());
    return machine;
  },
);

/** The reports are looked at as they came over the wire. */
function unread(): void {}

async function toolsAt(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).map(({ name }) => String(name));
}

/** Calls until the server is there: the person's list may be a little older than what was published. */
async function callsAgain(
  client: Client,
  tool: string,
  args: Json,
  withinMs: number,
): Promise<void> {
  await until(
    async () => "content" in (await outcomeOf(client.callTool(tool, args))),
    `${tool} is back`,
    withinMs,
  );
}

describe("four servers of one laptop, by a client's map,", () => {
  let machine: PublishingMachine;
  beforeAll(async () => {
    machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
    await writeFile(join(machine.folder, "note.txt"), "kept on the laptop");
    const chromium = await findBrowser();
    const command = await machine.publishMap({
      everything: {
        command: NODE,
        args: [`${PACKAGES}/@modelcontextprotocol/server-everything/dist/index.js`, "stdio"],
      },
      files: {
        command: NODE,
        args: [`${PACKAGES}/@modelcontextprotocol/server-filesystem/dist/index.js`, machine.folder],
      },
      memory: {
        command: NODE,
        args: [`${PACKAGES}/@modelcontextprotocol/server-memory/dist/index.js`],
        env: { MEMORY_FILE_PATH: join(machine.folder, "memory.json") },
      },
      browser: {
        command: NODE,
        args: [
          `${PACKAGES}/@playwright/mcp/cli.js`,
          ...["--headless", "--isolated", "--no-sandbox"],
          ...(chromium.executablePath === undefined
            ? []
            : ["--executable-path", chromium.executablePath]),
        ],
        env: chromium.env ?? {},
      },
      remote: { url: "https://example.com/mcp" },
    });
    await published(command, 4);
  });
  afterAll(() => machine.turnOff());

  describe.each(KINDS)("with %s", (kind) => {
    const path = kind === "v1-sse" ? "sse" : "mcp";

    test("S10: are listed beside the operator's, under their own names", async ({
      connect,
      expect,
    }) => {
      const client = await connect(kind, `${gateway.url}/${path}`);
      const published = [
        "my-everything__echo",
        "my-files__read_text_file",
        "my-memory__read_graph",
        "my-browser__browser_navigate",
      ];
      // A list does not wait for a server that is still being started.
      await expect
        .poll(() => toolsAt(client), { timeout: 20_000 })
        .toEqual(expect.arrayContaining(published));
      const tools = await toolsAt(client);
      expect(tools.some((name) => !name.startsWith("my-"))).toBe(true);
      expect(tools.filter((name) => name.includes("remote"))).toEqual([]);
    });

    test("are called, with progress, and keep what they are told", async ({ connect, expect }) => {
      const client = await connect(kind, `${gateway.url}/${path}`);
      const call = async (name: string, args: Json): Promise<string> =>
        textOf(await client.callTool(name, args));
      expect(await call("my-everything__echo", { message: "ä\u{1f600}" })).toBe("Echo: ä\u{1f600}");
      const file = join(machine.folder, "note.txt");
      expect(await call("my-files__read_text_file", { path: file })).toBe("kept on the laptop");
      const entity = { name: kind, entityType: "client", observations: ["was here"] };
      await call("my-memory__create_entities", { entities: [entity] });
      expect(await call("my-memory__read_graph", {})).toContain(kind);
      const steps = { duration: 0.3, steps: 3 };
      await client.callTool("my-everything__trigger-long-running-operation", steps, {
        onprogress: unread,
      });
      expect(client.progress.map(({ progress }) => progress)).toEqual([1, 2, 3]);
    });
  });

  test("drive a real browser", async ({ connect, expect }) => {
    const client = await connect("v2-modern", `${gateway.url}/mcp/my-browser`);
    const url = `${gateway.url}/`;
    const result = await client.callTool("browser_navigate", { url });
    expect(textOf(result)).toMatch(/Edgeway/);
  });
});

describe.each(["v1-http", "v2-modern"] as const)("with %s,", (kind) => {
  const open = (connect: Connect, slug: string): Promise<Client> =>
    connect(kind, `${gateway.url}/mcp/${slug}`);

  test("text on stdout that is no message does not end the session", async ({
    machine,
    connect,
    expect,
  }) => {
    const command = machine.publish("talks");
    await published(command);
    const client = await open(connect, "my-talks");
    await client.callTool("say", { text: "Listening on 1234\n" });
    expect(textOf(await client.callTool("echo", { a: 1 }))).toBe('{"a":1}');
    expect(command.stderr()).toContain("no message of JSON-RPC 2.0: Listening on 1234");
  });

  test("S15: a result of 1.5 MiB is refused with its size, and the connection lives", async ({
    machine,
    connect,
    expect,
  }) => {
    const command = machine.publish("large");
    await published(command);
    const client = await open(connect, "my-large");
    const { message } = await outcomeOf(client.callTool("big", { bytes: 1_572_864 }));
    expect(message).toMatch(/157\d{4} bytes/);
    expect(textOf(await client.callTool("echo", { a: 1 }))).toBe('{"a":1}');
    expect(command.stderr().match(/is published as/g)).toHaveLength(1);
  });

  test("S16: a process that ends fails its call with the code, and the next call has another", async ({
    machine,
    connect,
    expect,
  }) => {
    await published(machine.publish("ends"));
    const client = await open(connect, "my-ends");
    const { message } = await outcomeOf(client.callTool("end", { code: 7 }));
    expect(message).toContain("ended with exit code 7");
    await callsAgain(client, "run", { name: "after" }, BACK_MS);
    expect(await machine.runs("after")).toBe(1);
  });

  test("S16: a process that ends five times in a minute is offline, and calls are told so", async ({
    machine,
    connect,
    expect,
  }) => {
    const command = machine.publish("crashes");
    await published(command);
    const client = await open(connect, "my-crashes");
    await until(async () => {
      await outcomeOf(client.callTool("end", { code: 1 }));
      return command.stderr().includes("ended five times in a minute");
    }, "five ends");
    const { message } = await outcomeOf(client.callTool("run", { name: "offline" }));
    expect(message).toMatch(/my-crashes.*crashed five times in a minute/);
    expect(await machine.runs("offline")).toBe(0);
  });

  test("S13: two laptops publish one name: the later serves, and the earlier ends", async ({
    machine,
    connect,
    expect,
    onTestFinished,
  }) => {
    const other = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
    onTestFinished(() => other.turnOff());
    const earlier = machine.publish("same");
    await published(earlier);
    const later = other.publish("same");
    await published(later);
    expect(await earlier.exitCode).toBe(1);
    expect(earlier.stderr()).toContain("same is not published: Another process publishes");
    const client = await open(connect, "my-same");
    await client.callTool("run", { name: "once" });
    expect([await machine.runs("once"), await other.runs("once")]).toEqual([0, 1]);
  });

  test("S12: the gateway starts again: it has the server back, and a call that ran is not repeated", async ({
    machine,
    connect,
    expect,
  }) => {
    const command = machine.publish("outlives");
    await published(command);
    const client = await open(connect, "my-outlives");
    await client.callTool("run", { name: "before" });
    const held = outcomeOf(client.callTool("never"));
    await until(async () => (await machine.processes()).running.length > 0, "a process");
    await gateway.kill();
    await gateway.start();
    await published(command, 2);
    const again = await open(connect, "my-outlives");
    await callsAgain(again, "run", { name: "after" }, BACK_MS);
    expect(await machine.runs("before")).toBe(1);
    expect(await machine.runs("after")).toBe(1);
    // The client of before may have given up already, with an error of its own.
    await client.disconnect();
    expect(await held).toHaveProperty("message");
  });

  test("the command is stopped: calls are told since when it is away, and nothing of it is left", async ({
    machine,
    connect,
    expect,
  }) => {
    const command = machine.publish("leaves");
    await published(command);
    const client = await open(connect, "my-leaves");
    await client.callTool("run", { name: "once" });
    command.kill("SIGTERM");
    expect(await command.exitCode).toBe(0);
    const { message } = await outcomeOf(client.callTool("run", { name: "twice" }));
    expect(message).toMatch(/my-leaves.*is not connected since/);
    expect((await machine.processes()).running).toEqual([]);
    expect(await machine.runs("twice")).toBe(0);
  });

  test("with --share, clients have one process, and each its own answers", async ({
    machine,
    connect,
    expect,
  }) => {
    await published(machine.publish("shared", ["--share"]));
    const clients = await Promise.all([1, 2, 3].map(() => open(connect, "my-shared")));
    const said = await Promise.all(
      clients.flatMap((client, who) =>
        [1, 2, 3, 4].map(async (what) => textOf(await client.callTool("echo", { who, what }))),
      ),
    );
    const expected = clients.flatMap((_, who) =>
      [1, 2, 3, 4].map((what) => JSON.stringify({ who, what })),
    );
    expect(said).toEqual(expected);
    expect((await machine.processes()).started).toHaveLength(1);
  });
});

base(
  "publishing is off: the command prints that, and ends with code 1",
  async ({ expect, onTestFinished }) => {
    const off = await startGateway();
    onTestFinished(() => off.stop());
    const machine = await PublishingMachine.turnOn(`${off.url}/mcp`);
    onTestFinished(() => machine.turnOff());
    const command = machine.start(["files", "--", ...LOCAL_SERVER]);
    expect(await command.exitCode).toBe(1);
    expect(command.stderr()).toMatch(/Publishing is off/);
  },
);
