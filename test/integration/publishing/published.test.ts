/** A published server is a server like any other, in both eras, to clients of both. */

// Has an isolate of its own: it configures the gateway anew.
import { beforeAll, describe, test } from "vitest";

import { connectLaptop, type Laptop } from "./laptop.ts";
import { legacyServer, modernServer, text, type Tool } from "./local-servers.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { within } from "../bounded.ts";
import { modern, send, Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";

beforeAll(async () => {
  await beginWith({ PUBLISHING: "on" });
});

const ERAS = [
  { era: "legacy", serverOf: legacyServer },
  { era: "modern", serverOf: modernServer },
] as const;

const say: Tool = ({ params }) => text(`said ${JSON.stringify(params?.["arguments"])}`);

function toolsCall(path: string, name: string, args: Json = {}): Promise<Response> {
  return modern({ mcp: path }, "tools/call", { name, arguments: args });
}

describe.for(ERAS)("a local server of the $era era", ({ era, serverOf }) => {
  const name = `one-${era}`;
  let laptop: Laptop;

  beforeAll(async () => {
    laptop = await connectLaptop(send);
    const welcome = await within(laptop.publish(name, serverOf({ tools: { say } })), "a welcome");
    if (welcome.t !== "welcome") throw new Error(JSON.stringify(welcome));
  });

  test("a modern client lists and calls its tools", async ({ expect }) => {
    const path = `/mcp/my-${name}`;
    const listed = await responseIn(await modern({ mcp: path }, "tools/list"));
    expect(listed.result?.["tools"]).toMatchObject([{ name: "say" }]);
    expect(listed.result?.["cacheScope"]).toBe("private");
    const called = await responseIn(await toolsCall(path, "say", { n: 1 }));
    expect(called.result).toMatchObject(text('said {"n":1}'));
  });

  test("a legacy client lists and calls its tools", async ({ expect }) => {
    const session = await Session.open(`/mcp/my-${name}`);
    const listed = await responseIn(await session.request("tools/list"));
    expect(listed.result?.["tools"]).toMatchObject([{ name: "say" }]);
    const called = await responseIn(await session.callTool("say", { arguments: { n: 2 } }));
    expect(called.result).toMatchObject(text('said {"n":2}'));
  });
});
