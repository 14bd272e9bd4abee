/** A published server that comes back in the other era is served in it at once, whatever was known of it before. */

import { afterEach, beforeAll, describe, test } from "vitest";

import { within } from "../bounded.ts";
import { modern, send, Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { connectLaptop, type Laptop } from "./laptop.ts";
import { legacyServer, modernServer, text, type Tool } from "./local-servers.ts";

beforeAll(async () => {
  await beginWith({ PUBLISHING: "on" });
});

const laptops: Laptop[] = [];
afterEach(() => {
  for (const laptop of laptops.splice(0)) laptop.break();
});

const SERVERS = { legacy: legacyServer, modern: modernServer };
type Era = keyof typeof SERVERS;

/** A program of the era, which has the name from now on. */
async function publish(name: string, era: Era): Promise<Laptop> {
  const laptop = await connectLaptop(send);
  laptops.push(laptop);
  const say: Tool = () => text(era);
  await within(laptop.publish(name, SERVERS[era]({ tools: { say } })), "a welcome");
  return laptop;
}

const TURNS: readonly (readonly [Era, Era])[] = [
  ["legacy", "modern"],
  ["modern", "legacy"],
];

describe.for(TURNS)("a server of the %s era that comes back in the %s one", ([before, after]) => {
  test("is called by modern clients", async ({ expect }) => {
    const name = `modern-${before}`;
    const path = { mcp: `/mcp/my-${name}` };
    const call = () => modern(path, "tools/call", { name: "say", arguments: {} });
    await publish(name, before);
    expect((await responseIn(await call())).result).toMatchObject(text(before));
    const laptop = await publish(name, after);
    expect((await responseIn(await call())).result).toMatchObject(text(after));
    expect(laptop.received.filter(({ method }) => method === "tools/call")).toHaveLength(1);
    const listed = await responseIn(await modern(path, "tools/list"));
    expect(listed.result?.["tools"]).toMatchObject([{ name: "say" }]);
  });

  test("is called in a session that knew it, and in a new one", async ({ expect }) => {
    const name = `session-${before}`;
    await publish(name, before);
    const session = await Session.inUse(`/mcp/my-${name}`);
    expect(await callIn(session)).toMatchObject(text(before));
    await publish(name, after);
    expect(await callIn(await Session.inUse(`/mcp/my-${name}`))).toMatchObject(text(after));
    expect(await callIn(session)).toMatchObject(text(after));
  });
});

async function callIn(session: Session): Promise<unknown> {
  return (await responseIn(await session.callTool("say"))).result;
}
