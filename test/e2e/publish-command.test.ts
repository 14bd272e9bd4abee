/** `edgeway publish` before a gateway by hand: real processes and real signals, at the command's end of the wire. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test as base } from "vitest";

import { machineNode, type RawHost } from "../support/cli.ts";
import type { Json } from "../support/clients-face.ts";
import { LOCAL_SERVER, PublishingMachine } from "../support/laptop-command.ts";
import { NODE } from "../support/process.ts";
import { type PublishStub, startPublishStub } from "../support/publish-stub.ts";
import { until } from "../support/until.ts";

const KEY = "ew_key_of_a_test";

interface Laptop {
  readonly stub: PublishStub;
  readonly machine: PublishingMachine;
}

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("laptop", async ({}, { onCleanup }): Promise<Laptop> => {
  const stub = await startPublishStub();
  const machine = await PublishingMachine.turnOn(stub.url, { EDGEWAY_KEY: KEY });
  onCleanup(async () => {
    await machine.turnOff();
    await stub.close();
  });
  return { stub, machine };
});

const closedOf = (name: string) => (frame: Json) =>
  frame["t"] === "closed" && frame["channel"] === name;

const isQuestion = ({ body }: Json): boolean =>
  (body as Json | undefined)?.["method"] === "elicitation/create";

test.for([
  ["of the machine", machineNode()],
  ["of the project", NODE],
] as const)(
  "messages pass as they are written, with the Node %s",
  async ([, node], { laptop, expect }) => {
    const { stub, machine } = laptop;
    machine.start(["files", "--", ...LOCAL_SERVER], {}, node);
    await stub.open("files", "c1");
    const text = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"echo","params":{"ü":1.0}}';
    stub.deliver("files", "c1", text);
    const { text: frame } = await stub.next(({ t }) => t === "message", "the answer");
    // The id is a double for the server of the test; what it wrote of it comes as it wrote it.
    expect(frame).toBe(
      '{"t":"message","name":"files","channel":"c1","body":{"jsonrpc":"2.0","id":12345678901234567000,"result":{"ü":1}}}',
    );
    const [hello] = stub.frames;
    expect(hello).toMatchObject({ t: "hello", v: 1, name: "files", share: false });
    expect(Object.keys(hello ?? {}).toSorted()).toEqual([
      "generation",
      "info",
      "name",
      "share",
      "t",
      "text",
      "v",
    ]);
    const [upgrade] = stub.upgrades;
    expect(upgrade?.url).toBe("/publish");
    expect(upgrade?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(upgrade?.headers["sec-websocket-protocol"]).toBe("edgeway.publish.v1");
  },
);

test("nothing of the command line, the environment or the key leaves the machine, or is printed", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  const secret = "a-secret-of-the-person";
  const command = machine.start(
    ["files", "--env", "NAMED", "--", ...LOCAL_SERVER, "--token", `${secret}-argument`],
    { NAMED: `${secret}-named`, UNNAMED: `${secret}-unnamed` },
  );
  await stub.open("files", "c1");
  const { result: environment } = (await stub.ask("files", "c1", "env")) as { result: Json };
  expect(environment["NAMED"]).toBe(`${secret}-named`);
  expect(environment).not.toHaveProperty("UNNAMED");
  expect(environment).not.toHaveProperty("EDGEWAY_KEY");
  expect(environment).toHaveProperty("PATH");
  const wire = stub.frames.filter(
    ({ body }) => (body as Json | undefined)?.["result"] !== environment,
  );
  expect(JSON.stringify(wire)).not.toContain(secret);
  expect(command.stderr()).not.toContain(secret);
  expect(command.stderr()).not.toContain(KEY);
  const inList = await readFile(`/proc/${command.pid}/cmdline`, "utf8");
  expect(inList).not.toContain(KEY);
  expect(command.lines).toEqual([]);
});

test("each channel has a process, which ends with it", async ({ laptop, expect }) => {
  const { stub, machine } = laptop;
  machine.publish("files");
  await stub.open("files", "c1");
  await stub.open("files", "c2");
  const pids = await Promise.all(
    ["c1", "c2"].map(async (channel) => (await stub.ask("files", channel, "initialize"))["result"]),
  );
  expect(new Set(pids.map((result) => (result as Json)["pid"])).size).toBe(2);
  stub.send({ t: "close", name: "files", channel: "c1" });
  await until(async () => (await machine.processes()).running.length === 1, "one process");
  expect(await stub.ask("files", "c2", "echo", { still: true })).toMatchObject({
    result: { still: true },
  });
  expect(stub.frames.filter(({ t }) => t === "closed")).toEqual([]);
});

test("S8: what is no message on stdout is shown with a warning, and the session lives", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  const command = machine.publish("files");
  await stub.open("files", "c1");
  await stub.ask("files", "c1", "say", { text: "Listening…\n[1, 2]\n" });
  await stub.ask("files", "c1", "complain", { text: "on stderr\n" });
  await until(
    () => command.stderr().includes("[files] on stderr"),
    () => command.stderr(),
  );
  expect(command.stderr()).toContain(
    "files: a line on its stdout is no message of JSON-RPC 2.0: Listening…",
  );
  expect(command.stderr()).toContain("JSON-RPC 2.0: [1, 2]");
  const bodies = stub.frames.filter(({ t }) => t === "message");
  expect(JSON.stringify(bodies)).not.toMatch(/Listening|on stderr/);
});

test("a result of 1.5 MiB is an error that names its size, and the next call works", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  machine.publish("files");
  await stub.open("files", "c1");
  const { error } = (await stub.ask("files", "c1", "big", { bytes: 1_572_864 })) as { error: Json };
  expect(error["message"]).toMatch(/has 15729\d\d bytes.*1048576/);
  const { result } = (await stub.ask("files", "c1", "big", { bytes: 1_000_000 })) as {
    result: Json;
  };
  expect(String(result["text"]).length).toBe(1_000_000);
  expect(stub.upgrades).toHaveLength(1);
});

test("a process that ends is named with its code, started anew, and offline after five", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  const command = machine.publish("files");
  await stub.open("files", "healthy");
  await stub.ask("files", "healthy", "echo");
  for (const each of [1, 2, 3, 4, 5]) {
    const channel = `c${each}`;
    await stub.open("files", channel);
    const params = { code: 10 + each };
    const body = { jsonrpc: "2.0", id: each, method: "end", params };
    stub.deliver("files", channel, JSON.stringify(body));
    const { reason, code } = await stub.next(closedOf(channel), `the end of ${channel}`);
    expect({ reason, code }).toEqual({ reason: each === 5 ? "crashing" : "exit", code: 10 + each });
  }
  expect(command.stderr()).toContain("files: ended with code 11");
  expect(command.stderr()).toContain("files: ended five times in a minute");
  // All channels of it are over for the gateway.
  await until(async () => (await machine.processes()).running.length === 0, "no process");
  await stub.open("files", "c6");
  expect(await stub.next(closedOf("c6"), "the refusal")).toMatchObject({ reason: "crashing" });
  expect((await machine.processes()).started).toHaveLength(6);
});

test("a process that ends when it is asked for its era has not crashed", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  const program = "process.stdin.once('data', () => process.exit(3))";
  machine.start(["files", "--", NODE, "-e", program]);
  for (const channel of ["c1", "c2", "c3", "c4", "c5", "c6"]) {
    await stub.open("files", channel);
    stub.deliver("files", channel, '{"jsonrpc":"2.0","id":1,"method":"server/discover"}');
    const { reason, code } = await stub.next(closedOf(channel), `the end of ${channel}`);
    expect({ reason, code }).toEqual({ reason: "exit", code: 3 });
  }
});

test("a channel without anything to do is closed, and one with a call is not", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  machine.publish("files", ["--idle", "0.2"]);
  await stub.open("files", "busy");
  stub.deliver("files", "busy", '{"jsonrpc":"2.0","id":1,"method":"never"}');
  await stub.open("files", "idle");
  expect(await stub.next(closedOf("idle"), "the end of it")).toMatchObject({ reason: "idle" });
  stub.send({ t: "open", name: "files", channel: "later" });
  await stub.next(closedOf("later"), "the end of it");
  expect(stub.frames.some(closedOf("busy"))).toBe(false);
  expect(await stub.ask("files", "busy", "echo")).toHaveProperty("result");
});

describe("with --share", () => {
  test("one process serves all channels, whose ids are the same, and none crosses", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    machine.publish("files", ["--share", "--idle", "1"]);
    const channels = ["c1", "c2", "c3"];
    for (const channel of channels) {
      await stub.open("files", channel);
      stub.deliver("files", channel, '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}');
    }
    const answersTo = (id: unknown): readonly Json[] =>
      stub.frames.filter(({ body }) => (body as Json | undefined)?.["id"] === id);
    await until(() => answersTo(0).length === 3, "an answer for each");
    const pids = answersTo(0).map(({ body }) => ((body as Json)["result"] as Json)["pid"]);
    expect(new Set(pids).size).toBe(1);
    for (const channel of channels) {
      const echo = { jsonrpc: "2.0", id: 1, method: "echo", params: { channel } };
      stub.deliver("files", channel, JSON.stringify(echo));
    }
    await until(() => answersTo(1).length === 3, "an answer for each");
    const told = answersTo(1).map(({ channel, body }) => [channel, (body as Json)["result"]]);
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(channels.map((channel) => [channel, { channel }])),
    );
    const changed = { method: "notifications/tools/list_changed", params: {} };
    await stub.ask("files", "c2", "notify", changed);
    const heard = stub.frames.filter(
      ({ body }) => (body as Json | undefined)?.["method"] === changed.method,
    );
    expect(heard).toHaveLength(3);
    expect(new Set(heard.map(({ channel }) => channel))).toEqual(new Set(channels));
    // It stays a while for the next one.
    for (const channel of channels) stub.send({ t: "close", name: "files", channel });
    await until(async () => (await machine.processes()).running.length === 0, "no process");
    expect((await machine.processes()).started).toHaveLength(1);
  });

  test("a question reaches the one that has a call, and is refused where two have", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    machine.publish("files", ["--share"]);
    await stub.open("files", "c1");
    await stub.open("files", "c2");
    stub.deliver("files", "c1", '{"jsonrpc":"2.0","id":1,"method":"ask"}');
    const { channel, body } = await stub.next(isQuestion, "the question");
    expect(channel).toBe("c1");
    const { id } = body as Json;
    stub.deliver("files", "c2", JSON.stringify({ jsonrpc: "2.0", id, result: { by: "c2" } }));
    stub.deliver("files", "c1", JSON.stringify({ jsonrpc: "2.0", id, result: { by: "c1" } }));
    const answered = await stub.next(
      ({ channel: to, body }) => to === "c1" && (body as Json | undefined)?.["id"] === 1,
      "the answer",
    );
    expect(answered["body"]).toMatchObject({ result: { said: { by: "c1" } } });
    stub.deliver("files", "c2", '{"jsonrpc":"2.0","id":2,"method":"never"}');
    stub.deliver("files", "c1", '{"jsonrpc":"2.0","id":3,"method":"ask"}');
    const refused = await stub.next(
      ({ body }) => (body as Json | undefined)?.["id"] === 3,
      "the answer",
    );
    // The server was answered with an error, so that nothing was said.
    expect(refused["body"]).toMatchObject({ result: {} });
    expect(stub.frames.filter(isQuestion)).toHaveLength(1);
  });
});

test("a file publishes its commands under slugs, and skips the rest by name", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  const [command, ...args] = LOCAL_SERVER;
  const mcpServers = {
    "My Files": { command, args, env: { MODE: "mine" } },
    other: { command, args },
    remote: { url: "https://example.com/mcp" },
    absent: { command: "no-such-program" },
  };
  const publisher = await machine.publishMap(mcpServers);
  await stub.open("my-files", "c1");
  await stub.open("other", "c1");
  const { result } = (await stub.ask("my-files", "c1", "env")) as { result: Json };
  expect(result["MODE"]).toBe("mine");
  expect(stub.upgrades).toHaveLength(1);
  expect(publisher.stderr()).toContain("not published: remote: has an address");
  expect(publisher.stderr()).toContain('absent: there is no program "no-such-program"');
});

test("a server that cannot be started takes no other one along", async ({ laptop, expect }) => {
  const { stub, machine } = laptop;
  const [command, ...args] = LOCAL_SERVER;
  const mcpServers = { broken: { command, args, cwd: NODE }, good: { command, args } };
  const publisher = await machine.publishMap(mcpServers);
  await stub.open("good", "c1");
  await stub.ask("good", "c1", "echo");
  await stub.open("broken", "c2");
  const closed = await stub.next(closedOf("c2"), "the end of the broken one");
  expect(closed).toMatchObject({ name: "broken", reason: "spawn-failed" });
  expect(publisher.stderr()).toContain("broken: spawn ENOTDIR");
  expect(await stub.ask("good", "c1", "echo", { still: true })).toMatchObject({
    result: { still: true },
  });
});

/** Publishes a server that ends at once, and leaves one behind that holds its pipes and does not end by itself. */
function publishLauncher({ machine }: Laptop): RawHost {
  const server = LOCAL_SERVER.map((word) => `'${word}'`).join(" ");
  // Without this, a shell takes the standard input away from what runs in the background.
  const begun = 'until [ -s "$JOURNAL" ]; do sleep 0.1; done';
  const launcher = ["sh", "-c", `exec 3<&0; ${server} <&3 & ${begun}`];
  const named = ["--env", "JOURNAL", "--env", "STUBBORN"];
  return machine.start(["files", ...named, "--", ...launcher], { STUBBORN: "1" });
}

test("what a process has started ends with it, also what does not by itself", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  publishLauncher(laptop);
  await stub.open("files", "c1");
  expect(await stub.next(closedOf("c1"), "the end")).toMatchObject({ reason: "exit", code: 0 });
  await until(async () => {
    const { started, running } = await machine.processes();
    return started.length === 1 && running.length === 0;
  }, "its server to have ended");
});

/** Publishes a server whose process does not end by itself, and runs. */
async function publishStubborn({ stub, machine }: Laptop): Promise<RawHost> {
  const command = machine.publish("files", ["--env", "STUBBORN"], { STUBBORN: "1" });
  await stub.open("files", "c1");
  await stub.ask("files", "c1", "echo");
  return command;
}

/** One server, with a channel that has been used. */
async function publishFiles({ stub, machine }: Laptop): Promise<RawHost> {
  const command = machine.publish("files");
  await stub.open("files", "c1");
  await stub.ask("files", "c1", "echo");
  return command;
}

describe("the command ends", () => {
  test.for(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s with code 0, and says bye; its processes end",
    async (signal, { laptop, expect }) => {
      const { stub, machine } = laptop;
      const command = await publishFiles(laptop);
      command.kill(signal);
      expect(await command.exitCode).toBe(0);
      expect(stub.frames.at(-1)).toMatchObject({ t: "bye", name: "files" });
      expect((await machine.processes()).running).toEqual([]);
    },
  );

  test("also with a process that does not: that is asked, and then killed", async ({
    laptop,
    expect,
  }) => {
    const command = await publishStubborn(laptop);
    command.kill("SIGTERM");
    expect(await command.exitCode).toBe(0);
    expect((await laptop.machine.processes()).running).toEqual([]);
  });

  test("by SIGINT right after a process has ended by itself: what that had started is killed", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    const command = publishLauncher(laptop);
    await stub.open("files", "c1");
    await stub.next(closedOf("c1"), "the end of what started it");
    command.kill("SIGINT");
    expect(await command.exitCode).toBe(0);
    expect((await machine.processes()).started).toHaveLength(1);
    // An orphan is listed until the system has taken note of its end.
    await until(async () => (await machine.processes()).running.length === 0, "no orphan");
  });

  test("with code 1 when its only server is taken from it, also with a process that does not end", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    const command = await publishStubborn(laptop);
    const message = "Another process publishes it now.";
    stub.send({ t: "refused", name: "files", code: "off", message });
    stub.socket?.close(4001, message);
    expect(await command.exitCode).toBe(1);
    expect(command.stderr()).toContain(`files is not published: ${message}`);
    expect((await machine.processes()).running).toEqual([]);
  });

  test("by SIGTERM with the process of a server that was taken from it right before", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    const [command, ...args] = LOCAL_SERVER;
    const env = { JOURNAL: "${JOURNAL}", STUBBORN: "1" };
    const mcpServers = { files: { command, args, env }, other: { command, args } };
    const publisher = await machine.publishMap(mcpServers);
    await stub.open("files", "c1");
    await stub.ask("files", "c1", "echo");
    const message = "It was ended on your account page.";
    stub.send({ t: "refused", name: "files", code: "off", message });
    await until(
      () => publisher.stderr().includes(message),
      () => publisher.stderr(),
    );
    publisher.kill("SIGTERM");
    expect(await publisher.exitCode).toBe(0);
    expect((await machine.processes()).running).toEqual([]);
  });

  test("by SIGKILL, and its processes see the end of stdin", async ({ laptop }) => {
    const { machine } = laptop;
    const command = await publishFiles(laptop);
    command.kill("SIGKILL");
    await until(async () => (await machine.processes()).running.length === 0, "no orphan");
  });

  test.for([
    [
      { status: 403, body: '{"error":"publishing_off","message":"Publishing is off here."}' },
      "Publishing is off here.",
    ],
    [{ status: 404, body: "<html>" }, "answers with status 404"],
    [{ status: 401, body: "{}" }, "refused the API key in EDGEWAY_KEY"],
  ] as const)(
    "S11: with code 1 where the gateway answers %j",
    async ([refusal, why], { laptop, expect }) => {
      const { stub, machine } = laptop;
      stub.refusal = refusal;
      const command = machine.publish("files");
      expect(await command.exitCode).toBe(1);
      expect(command.stderr()).toContain(why);
      expect(stub.upgrades).toHaveLength(1);
    },
  );

  test.for([
    [4001, "", "another process publishes files now"],
    [4002, "Your account is disabled.", "Your account is disabled."],
  ] as const)(
    "with code 1 when it is closed with %i",
    async ([code, reason, why], { laptop, expect }) => {
      const { stub, machine } = laptop;
      const command = await publishFiles(laptop);
      stub.socket?.close(code, reason);
      expect(await command.exitCode).toBe(1);
      expect(command.stderr()).toContain(why);
      expect(stub.upgrades).toHaveLength(1);
      expect((await machine.processes()).running).toEqual([]);
    },
  );

  test("with code 1 when its only server is refused", async ({ laptop, expect }) => {
    const message = "You publish 16 servers already.";
    const { stub, machine } = laptop;
    stub.onHello = (name) => ({ t: "refused", name, code: "limit", message });
    const command = machine.publish("files");
    expect(await command.exitCode).toBe(1);
    expect(command.stderr()).toContain(`files is not published: ${message}`);
  });

  test("with code 1 when there is no such program, without a word to the gateway", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    const command = machine.start(["files", "--", "no-such-program"]);
    expect(await command.exitCode).toBe(1);
    expect(stub.upgrades).toEqual([]);
  });
});

test("a proxy that the environment names is asked for the connection", async ({
  laptop,
  expect,
  onTestFinished,
}) => {
  const dialled: (string | undefined)[] = [];
  const proxy = createServer();
  proxy.on("connect", ({ url }, socket) => {
    dialled.push(url);
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  laptop.machine.publish("files", ["--to", "https://127.0.0.1:1/mcp"], {
    NODE_USE_ENV_PROXY: "1",
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    https_proxy: "",
    NO_PROXY: "",
    no_proxy: "",
  });
  await until(() => dialled.length > 0, "a dial");
  expect(dialled[0]).toBe("127.0.0.1:1");
});

describe("the connection breaks:", () => {
  // The gateway closes the connection of a name that it takes away where it knows of no other.
  test.for([4001, 4002])(
    "by %i after one of two servers was refused, the command offers the other again",
    async (code, { laptop, expect }) => {
      const { stub, machine } = laptop;
      const [command, ...args] = LOCAL_SERVER;
      const server = { command, args };
      const publisher = await machine.publishMap({ files: server, other: server });
      await stub.next(({ t, name }) => t === "hello" && name === "other", "a hello");
      const message = "Another process publishes it now.";
      stub.send({ t: "refused", name: "files", code: "off", message });
      stub.socket?.close(code, message);
      await until(() => stub.upgrades.length === 2, "another dial");
      const offered = (): readonly unknown[] =>
        stub.frames.filter(({ t }) => t === "hello").map(({ name }) => name);
      await until(() => offered().length === 3, "another hello");
      expect(offered()).toEqual(["files", "other", "other"]);
      expect(publisher.stderr()).toContain(`files is not published: ${message}`);
    },
  );

  test("and nobody reads stderr any more: the command goes on, and ends what it has started", async ({
    laptop,
    expect,
  }) => {
    const { stub, machine } = laptop;
    const command = await publishFiles(laptop);
    command.closeStderr();
    stub.socket?.close(1012);
    await until(() => stub.upgrades.length === 2, "another dial");
    await stub.open("files", "c2");
    await stub.ask("files", "c2", "echo");
    command.kill("SIGTERM");
    expect(await command.exitCode).toBe(0);
    expect((await machine.processes()).running).toEqual([]);
  });

  test.for(["cut", 1012, 4003] as const)(
    "by %s, the command dials again and offers the same process",
    async (how, { laptop, expect }) => {
      const { stub, machine } = laptop;
      machine.publish("files");
      await stub.open("files", "c1");
      await stub.ask("files", "c1", "echo");
      if (how === "cut") stub.socket?.terminate();
      else stub.socket?.close(how);
      await until(() => stub.upgrades.length === 2, "another dial");
      const hellos = (): readonly Json[] => stub.frames.filter(({ t }) => t === "hello");
      await until(() => hellos().length === 2, "another hello");
      expect(hellos()[1]?.["generation"]).toBe(hellos()[0]?.["generation"]);
      // The channels of the connection before are over.
      await until(async () => (await machine.processes()).running.length === 0, "no process");
      await stub.open("files", "c1");
      expect(await stub.ask("files", "c1", "echo", { back: true })).toMatchObject({
        result: { back: true },
      });
    },
  );

  test("drained, the command answers what runs, and dials again", async ({ laptop, expect }) => {
    const { stub, machine } = laptop;
    machine.publish("files");
    await stub.open("files", "c1");
    stub.deliver("files", "c1", '{"jsonrpc":"2.0","id":"held","method":"ask"}');
    const { body } = await stub.next(({ t }) => t === "message", "the question");
    stub.send({ t: "drain" });
    const { id } = body as Json;
    stub.deliver("files", "c1", JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
    await until(() => stub.upgrades.length === 2, "another dial");
    expect(stub.frames.some(({ body: one }) => (one as Json | undefined)?.["id"] === "held")).toBe(
      true,
    );
  });

  test("a gateway that is busy is asked again", async ({ laptop, expect }) => {
    const { stub, machine } = laptop;
    stub.refusal = { status: 503, body: '{"error":"unavailable","message":"Starting."}' };
    const command = machine.publish("files");
    await until(() => stub.upgrades.length === 1, "a dial");
    stub.refusal = undefined;
    await stub.next(({ t }) => t === "hello", "a hello");
    expect(command.stderr()).toContain("Starting.");
  });
});

test("pings of the gateway are answered, and messages in parts are put together", async ({
  laptop,
  expect,
}) => {
  const { stub, machine } = laptop;
  machine.publish("files");
  await stub.open("files", "c1");
  const pong = new Promise((resolve) => stub.socket?.once("pong", resolve));
  stub.socket?.ping();
  await pong;
  const [head, tail] = [
    '{"t":"message","name":"files","channel":"c1","body":',
    '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"é":"日本"}}}',
  ];
  stub.socket?.send(head ?? "", { fin: false });
  stub.socket?.send(tail ?? "", { fin: true });
  const { body } = await stub.next(({ t }) => t === "message", "the answer");
  expect(body).toMatchObject({ result: { é: "日本" } });
});
