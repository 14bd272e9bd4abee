/**
 * The demo server behind the gateway's service binding, and the same Worker on a port of its own.
 */

import { afterAll, beforeAll, describe } from "vitest";

import type { Json, Kind } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { type Server, startDemo } from "../support/servers.ts";
import { outcomeOf } from "./outcome.ts";
import { expectSame, type Route } from "./parity.ts";

let demo: Server;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.stop());

const WAYS = [
  { name: "SDK 1, Streamable HTTP", direct: "v1-http", through: "v1-http" },
  { name: "SDK 1, HTTP+SSE before Streamable HTTP", direct: "v1-http", through: "v1-sse" },
  { name: "SDK 2, legacy era", direct: "v2-legacy", through: "v2-legacy" },
  { name: "SDK 2, modern era", direct: "v2-modern", through: "v2-modern" },
] as const;

function routeOf({ name, direct, through }: (typeof WAYS)[number]): Route {
  const behind: readonly [Kind, string] = [through, endpointFor(through, "demo")];
  return { name, direct: [direct, demo.url], through: behind };
}

/**
 * All but `open_garden`, which changes what everybody sees, and `brew_tea`, which takes two
 * seconds: both have tests of their own.
 */
const CALLS: readonly (readonly [tool: string, args: Json])[] = [
  ["todays_tea", {}],
  ["steeping_guide", { tea: "oolong", cups: 3 }],
  ["steeping_guide", { tea: "coffee" }],
  ["brew_coffee", {}],
  ["listen_to_kettle", {}],
  ["order_tea", {}],
  ["write_haiku", { about: "an edge" }],
];

describe.each(WAYS)("the demo, $name", (way) => {
  test("introduces itself, and lists the same in the same order, as it does directly", async ({
    expect,
    connect,
  }) => {
    await expectSame(expect, connect, routeOf(way), async (client) => {
      await client.callTool("open_garden", { open: false });
      return [
        client.server,
        await client.listTools(),
        await client.request("resources/list"),
        await client.request("resources/templates/list"),
        await client.request("prompts/list"),
      ];
    });
  });

  test("answers every tool as it does directly", async ({ expect, connect }) => {
    await expectSame(expect, connect, routeOf(way), async (client) => {
      await client.listTools();
      const outcomes: Json[] = [];
      for (const [name, args] of CALLS) {
        outcomes.push({ name, ...(await outcomeOf(client.callTool(name, args))) });
      }
      return outcomes;
    });
  });

  test("serves resources, prompts and completions as it does directly", async ({
    expect,
    connect,
  }) => {
    const requests: readonly (readonly [method: string, params: Json])[] = [
      ["resources/read", { uri: "teahouse://menu" }],
      ["resources/read", { uri: "teahouse://sign" }],
      ["resources/read", { uri: "teahouse://tea/assam" }],
      ["resources/read", { uri: "teahouse://tea/coffee" }],
      ["prompts/get", { name: "tea_ceremony", arguments: { guest: "Ada", tea: "sencha" } }],
      ["prompts/get", { name: "tea_for_mood", arguments: { mood: "tired", tea: "assam" } }],
      ["prompts/get", { name: "tea_ceremony", arguments: { guest: "Ada", tea: "coffee" } }],
      [
        "completion/complete",
        {
          ref: { type: "ref/prompt", name: "tea_for_mood" },
          argument: { name: "tea", value: "" },
          context: { arguments: { mood: "cosy" } },
        },
      ],
      [
        "completion/complete",
        {
          ref: { type: "ref/resource", uri: "teahouse://tea/{tea}" },
          argument: { name: "tea", value: "o" },
        },
      ],
    ];
    await expectSame(expect, connect, routeOf(way), async (client) => {
      const outcomes: Json[] = [];
      for (const [method, params] of requests) {
        outcomes.push({ method, ...(await outcomeOf(client.request(method, params))) });
      }
      return outcomes;
    });
  });
});
