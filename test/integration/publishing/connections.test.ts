/** The connections of a person's machines: what breaks, what is too much, and what sleeps. */

import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, test } from "vitest";

import { publishProtocols } from "../../../src/protocol/publishing.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { until, within } from "../bounded.ts";
import { modern, send, Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { costsOf } from "../costs-of.ts";
import { connectLaptop, type Laptop } from "./laptop.ts";
import { legacyServer, modernServer, text, type Tool } from "./local-servers.ts";

beforeAll(async () => {
  await beginWith({ PUBLISHING: "on" });
});

let count = 0;
const laptops: Laptop[] = [];

afterEach(() => {
  for (const laptop of laptops.splice(0)) laptop.break();
});

async function newLaptop(): Promise<Laptop> {
  const laptop = await connectLaptop(send);
  laptops.push(laptop);
  return laptop;
}

function newName(): string {
  count += 1;
  return `server-${count}`;
}

const say: Tool = ({ params }) => text(`said ${JSON.stringify(params?.["arguments"])}`);
const silent: Tool = () => undefined;
const big: Tool = () => text("x".repeat(1.5 * 1024 * 1024));
const crash: Tool = (_, channel) => {
  channel.exit(7);
  return undefined;
};

function from(who: string): Tool {
  return () => text(who);
}

async function call(name: string, tool: string, args: Json = {}): Promise<Message> {
  const path = { mcp: `/mcp/my-${name}` };
  return responseIn(await modern(path, "tools/call", { name: tool, arguments: args }));
}

function isCall({ method }: Json): boolean {
  return method === "tools/call";
}

/** Waits until a call has reached its local server. A call that was answered instead shows how. */
async function reaches(laptop: Laptop, calling: Promise<Message>): Promise<void> {
  const answered = calling.then((answer) => {
    throw new Error(`The call was answered: ${JSON.stringify(answer)}`);
  });
  await within(Promise.race([laptop.receives(isCall), answered]), "the call");
}

const connector = (): DurableObjectStub => env.CONNECTORS.getByName("local");

test("a call that runs when the connection breaks ends in one error, and is not repeated", async ({
  expect,
}) => {
  for (const serverOf of [legacyServer, modernServer]) {
    const [laptop, name] = [await newLaptop(), newName()];
    await within(laptop.publish(name, serverOf({ tools: { silent } })), "a welcome");
    const calling = call(name, "silent");
    await reaches(laptop, calling);
    laptop.break();
    const { error } = await calling;
    expect(error?.message).toBe(
      `The connection to the machine that publishes my-${name} was lost while the call ran; it may have run.`,
    );
    expect(laptop.received.filter(isCall)).toHaveLength(1);
    const again = await call(name, "silent");
    expect(again.error?.message).toMatch(
      new RegExp(
        `^Upstream "my-${name}" is not connected since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC$`,
      ),
    );
    expect(again.error?.data).toMatchObject({ reason: "offline" });
  }
});

test("a server that is offline is listed as it was, and marked", async ({ expect }) => {
  const [laptop, name] = [await newLaptop(), newName()];
  await within(laptop.publish(name, modernServer({ tools: { say } })), "a welcome");
  const list = async (): Promise<Json | undefined> =>
    (await responseIn(await modern({ mcp: `/mcp/my-${name}` }, "tools/list"))).result;
  expect(await list()).toMatchObject({ tools: [{ name: "say" }] });
  laptop.break();
  const marked = await until(async () => {
    const result = await list();
    return result?.["_meta"] === undefined ? undefined : result;
  }, "the mark");
  expect(marked["tools"]).toMatchObject([{ name: "say" }]);
  expect(marked["_meta"]).toMatchObject({
    "edgeway/servers": [{ server: `my-${name}`, state: "offline" }],
  });
});

test("a process that ends is named with its exit code, and the next call has another", async ({
  expect,
}) => {
  for (const serverOf of [legacyServer, modernServer]) {
    const [laptop, name] = [await newLaptop(), newName()];
    await within(laptop.publish(name, serverOf({ tools: { say, crash } })), "a welcome");
    const { error } = await call(name, "crash");
    expect(error?.message).toBe(
      `The process of my-${name} ended with exit code 7 while the call ran; it may have run.`,
    );
    expect((await call(name, "say")).result).toMatchObject(text("said {}"));
  }
});

test("a legacy server that ends at whatever comes before a handshake is called by modern clients", async ({
  expect,
}) => {
  const [laptop, name] = [await newLaptop(), newName()];
  const server = legacyServer({ tools: { say } });
  const strict: typeof server = (message, channel) => {
    if (message.method === "server/discover") channel.exit(1);
    else server(message, channel);
  };
  await within(laptop.publish(name, strict), "a welcome");
  expect((await call(name, "say")).result).toMatchObject(text("said {}"));
});

test("a result of 1.5 MiB is refused with its size, and the connection lives", async ({
  expect,
}) => {
  const [laptop, name] = [await newLaptop(), newName()];
  await within(laptop.publish(name, modernServer({ tools: { big, say } })), "a welcome");
  const { error } = await call(name, "big");
  expect(error?.message).toMatch(/^The message has 15729\d\d bytes/);
  expect((await call(name, "say")).result).toMatchObject(text("said {}"));
  expect(laptop.closed).toBeUndefined();
});

test("the newer process of a name has it, and the older one is told", async ({ expect }) => {
  const [older, newer, name] = [await newLaptop(), await newLaptop(), newName()];
  await within(older.publish(name, modernServer({ tools: { who: from("older") } })), "a welcome");
  await within(newer.publish(name, modernServer({ tools: { who: from("newer") } })), "a welcome");
  expect(await within(older.ends(), "the end")).toMatchObject({ code: 4001 });
  expect((await call(name, "who")).result).toMatchObject(text("newer"));
});

test("a connection outlives the memory of the object, and so does a session", async ({
  expect,
}) => {
  const [laptop, name] = [await newLaptop(), newName()];
  await within(laptop.publish(name, legacyServer({ tools: { say } })), "a welcome");
  const session = await Session.inUse(`/mcp/my-${name}`);
  const called = async (n: number): Promise<unknown> =>
    (await responseIn(await session.callTool("say", { arguments: { n } }))).result;
  expect(await called(1)).toMatchObject(text('said {"n":1}'));
  const processes = laptop.frames.filter(({ t }) => t === "open").length;
  await within(evictDurableObject(connector()), "the object to be let go");
  expect(await called(2)).toMatchObject(text('said {"n":2}'));
  expect(laptop.frames.filter(({ t }) => t === "open")).toHaveLength(processes);
  expect(laptop.closed).toBeUndefined();
});

test("a restart in mid-call ends the call in one error, and the command dials again", async ({
  expect,
}) => {
  const [laptop, name] = [await newLaptop(), newName()];
  await within(laptop.publish(name, modernServer({ tools: { silent, say } })), "a welcome");
  const calling = call(name, "silent");
  await reaches(laptop, calling);
  await abortAllDurableObjects();
  const { error } = await calling;
  expect(error?.message).toContain(`Upstream "my-${name}"`);
  expect(laptop.received.filter(isCall)).toHaveLength(1);
  const again = await newLaptop();
  await within(again.publish(name, modernServer({ tools: { say } })), "a welcome");
  expect((await call(name, "say")).result).toMatchObject(text("said {}"));
});

test("who publishes too much, or in another version, is told", async ({ expect }) => {
  const laptop = await newLaptop();
  const server = modernServer({ tools: {} });
  const other = await within(laptop.offer(newName(), server, { v: 2 }), "an answer");
  expect(other).toMatchObject({ t: "refused", code: "version" });
  const names: string[] = [];
  let refused: unknown;
  for (let n = 0; n < 40 && refused === undefined; n++) {
    const name = newName();
    const answer = await within(laptop.offer(name, server), "an answer");
    if (answer.t === "welcome") names.push(name);
    else refused = answer;
  }
  expect(refused).toMatchObject({ t: "refused", code: "limit" });
  for (const name of names) await connectorEnd(name);
});

async function connectorEnd(name: string): Promise<void> {
  await env.CONNECTORS.getByName("local").end(name);
}

test("what is no frame ends the connection", async ({ expect }) => {
  const laptop = await newLaptop();
  laptop.send('{"t":"welcome"}');
  expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4003 });
});

test("a ping is answered without the object", async ({ expect }) => {
  const laptop = await newLaptop();
  const costs = await costsOf(async () => {
    laptop.send("ping");
    await within(laptop.hears("pong"), "the pong");
  });
  expect(costs.webSocketMessagesIn).toBe(0);
});

test.for([
  { what: "a page of a browser", headers: { Origin: "https://app.example.com" }, status: 403 },
  { what: "no upgrade", headers: { Upgrade: "h2c" }, status: 426 },
  { what: "another protocol", headers: { "Sec-WebSocket-Protocol": "mqtt" }, status: 426 },
])("$what cannot publish", async ({ headers, status }, { expect }) => {
  const usual = {
    Upgrade: "websocket",
    "Sec-WebSocket-Protocol": publishProtocols("x").join(", "),
  };
  const response = await send("/publish", { headers: { ...usual, ...headers } });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ message: expect.any(String) as string });
});
