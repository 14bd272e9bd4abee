/** A server that gives some of its lists: the others are there from the first request on. */

import { abortAllDurableObjects } from "cloudflare:test";
import { beforeAll, describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, Session, VERSION_KEY } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { always } from "../merged-session.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const MCP = { mcp: "/mcp" };
const tools: readonly Json[] = [{ name: "work", inputSchema: { type: "object" } }];

let ill: Upstream;
let well: Upstream;

beforeAll(async () => {
  // Every list asks the feeds, and none waits for a server that is slow beside other work.
  setLimits({ catalogFreshSeconds: 0, catalogWaitMilliseconds: 10_000 });
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const resources = [{ uri: "file:///ill/1", name: "1" }];
  const [first, second] = await takeSeveral([
    {
      script: {
        ...{ server: "dual", capabilities, tools },
        reactions: {
          "resources/list": always({ resources }),
          "resources/templates/list": always({}),
          "prompts/list": always({ prompts: "none" }),
        },
      },
    },
    { script: { server: "dual", capabilities: { tools: {} }, tools } },
  ]);
  if (first === undefined || second === undefined) throw new Error("no servers");
  [ill, well] = [first, second];
});

type Ask = (method: string, params?: Json) => Promise<Response>;

async function legacyClient(): Promise<Ask> {
  const session = await Session.open("/mcp");
  return (method, params) => session.request(method, params ?? {});
}
const modernClient = (): Promise<Ask> =>
  Promise.resolve((method, params) => {
    const envelope = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
    return modern(MCP, method, { ...params, _meta: envelope });
  });

describe.for([
  { era: "legacy", open: legacyClient },
  { era: "modern", open: modernClient },
])("to a $era client", ({ open }) => {
  test("all that it gives is listed and called, and what it does not give is named", async ({
    expect,
  }) => {
    const ask = await open();
    const faults = [
      ["resources/templates/list", `Upstream "${ill.slug}" answered resources/templates/list`],
      ["prompts/list", `Upstream "${ill.slug}" answered prompts/list`],
    ].map(([list, sentence]) => ({
      ...{ server: ill.slug, state: "failing", list, message: `${sentence} without a list` },
      since: expect.any(Number) as number,
    }));
    for (const isRestarted of [false, true]) {
      if (isRestarted) await abortAllDurableObjects();
      const { result: listed } = await responseIn(await ask("tools/list"));
      expect(listed?.["tools"]).toMatchObject(
        [ill, well].map(({ slug }) => ({
          ...{ name: `${slug}__work`, _meta: { "edgeway/server": slug } },
        })),
      );
      expect(listed?.["_meta"]).toEqual({ "edgeway/servers": faults });
      const { result: resources } = await responseIn(await ask("resources/list"));
      expect(resources?.["resources"]).toMatchObject([{ uri: "file:///ill/1" }]);
      for (const [method, member] of [
        ["resources/templates/list", "resourceTemplates"],
        ["prompts/list", "prompts"],
      ] as const) {
        const { result } = await responseIn(await ask(method));
        expect([result?.[member], result?.["_meta"]]).toEqual([[], { "edgeway/servers": faults }]);
      }
    }
    const called = await responseIn(await ask("tools/call", { name: `${ill.slug}__work` }));
    expect(called.result).toMatchObject({ content: expect.any(Array) as unknown });
  });
});
