/** A legacy session with one server of several: names are its own, and cursors are the client's. */

import { beforeAll, describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { clientsOwn, resourceful } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const TOOLS = ["open", "secret", "shut"].map((name) => ({ name, inputSchema: { type: "object" } }));
const INVALID = { code: -32602, message: "Invalid cursor: list again from the beginning" };

let paged: Upstream;
let other: Upstream;

beforeAll(async () => {
  const [open, secret, shut] = TOOLS;
  const pages = [
    { tools: [open, secret], nextCursor: "the server's own" },
    { tools: [shut], nextCursor: "" },
    { tools: [] },
  ];
  // Each listing is of the client's own session.
  const lists = [...pages, ...pages, ...pages].map((result) => jsonOf({ result }));
  const taken = await takeSeveral([
    {
      script: resourceful("paged", { reactions: { "tools/list": lists } }),
      entry: { tools: { deny: ["sec*"] } },
    },
    { script: resourceful("other") },
  ]);
  [paged, other] = taken as [Upstream, Upstream];
});

function names({ result }: Message): unknown[] {
  const tools = (result?.["tools"] ?? []) as readonly Json[];
  return tools.map(({ name }) => name);
}

async function list(session: Session, cursor?: unknown): Promise<Message> {
  return responseIn(await session.request("tools/list", cursor === undefined ? {} : { cursor }));
}

describe("the lists of a server alone", () => {
  test("come page by page from its session, without what is denied", async ({ expect }) => {
    const session = await Session.open(paged.mcp);
    const first = await list(session);
    expect(names(first)).toEqual(["open"]);
    expect(first.result).not.toHaveProperty("ttlMs");
    const second = await list(session, first.result?.["nextCursor"]);
    expect(names(second)).toEqual(["shut"]);
    const third = await list(session, second.result?.["nextCursor"]);
    expect(names(third)).toEqual([]);
    expect(third.result).not.toHaveProperty("nextCursor");
    const own = await clientsOwn(paged);
    const cursors = own
      .filter(({ body }) => body?.method === "tools/list")
      .map(({ body }) => body?.params?.["cursor"]);
    expect(cursors).toEqual([undefined, "the server's own", ""]);
  });

  test("take no cursor but the client's own", async ({ expect }) => {
    const session = await Session.open(paged.mcp);
    const { result } = await list(session);
    const sealed = String(result?.["nextCursor"]);
    expect(sealed).not.toContain("own");
    for (const cursor of ["the server's own", "", 7, null, `${sealed}x`, sealed.slice(1)]) {
      expect((await list(session, cursor)).error).toEqual(INVALID);
    }
    const prompts = await responseIn(await session.request("prompts/list", { cursor: sealed }));
    expect(prompts.error).toEqual(INVALID);
    const elsewhere = await Session.open(other.mcp);
    expect((await list(elsewhere, sealed)).error).toEqual(INVALID);
    // Nothing of it came to a server.
    expect((await clientsOwn(other)).length).toBe(0);
  });

  test("hide what is denied from calls too", async ({ expect }) => {
    const session = await Session.open(paged.mcp);
    const [denied, unknown] = await Promise.all(
      ["secret", "secre"].map(async (name) => responseIn(await session.callTool(name))),
    );
    expect(denied?.error?.code).toBe(-32602);
    expect(JSON.stringify(denied?.error).replaceAll("secret", "secre")).toBe(
      JSON.stringify(unknown?.error),
    );
    expect((await clientsOwn(paged)).filter(({ body }) => body?.method === "tools/call")).toEqual(
      [],
    );
  });
});
