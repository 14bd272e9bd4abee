/** Servers of either era and of both behind one endpoint: each client has all of each. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { MODERN, modern, Session } from "../client.ts";
import { atRest, feedOf } from "../feed-object.ts";
import { EventReader, type Message, responseIn } from "../event-reader.ts";
import {
  always,
  changed,
  clientsOwn,
  LISTS,
  MERGED,
  promised,
  subscribe,
  updated,
} from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { sessionOf, type Upstream } from "../upstream.ts";

const SERVERS = ["modern", "legacy", "dual"] as const;
const RAN = { content: [{ type: "text", text: "ran work" }] };
const SCHEMA = { type: "object" };
const LIST_OUTPUT = { type: "array" };
const uriOf = (server: string): string => `file:///${server}`;

/** One of each, named after its server. */
function script(server: Script["server"]): Script {
  const contents = [{ uri: uriOf(server), text: server }];
  return {
    server,
    tools: [{ name: "work", inputSchema: SCHEMA, outputSchema: LIST_OUTPUT }],
    reactions: {
      "resources/list": always({ resources: [{ uri: uriOf(server), name: server }] }),
      "resources/templates/list": always({ resourceTemplates: [] }),
      "resources/read": always({ contents }),
      "prompts/list": always({ prompts: [{ name: "greet" }] }),
      "prompts/get": always({ messages: [], description: server }),
    },
  };
}

let upstreams: readonly Upstream[];

beforeAll(async () => {
  upstreams = await takeSeveral(SERVERS.map((server) => ({ script: script(server) })));
});

const named = (name: string): string[] => upstreams.map(({ slug }) => `${slug}__${name}`);
const pluck = (result: Json | undefined, list: string, member: string): unknown[] =>
  ((result?.[list] ?? []) as readonly Json[]).map((each) => each[member]);

/** How a client of each era asks for something. */
type Ask = (method: string, params?: Json) => Promise<Message>;

const CLIENTS: readonly {
  readonly era: "legacy" | "modern";
  readonly asking: () => Promise<Ask>;
  /** In which era each of the servers is spoken to. */
  readonly spoken: readonly ("legacy" | "modern")[];
}[] = [
  {
    era: "legacy",
    asking: async () => {
      const session = await Session.open(MERGED.mcp, { revision: "2025-06-18" });
      return async (method, params) => responseIn(await session.request(method, params));
    },
    spoken: ["modern", "legacy", "legacy"],
  },
  {
    era: "modern",
    asking: () =>
      Promise.resolve(async (method, params) => responseIn(await modern(MERGED, method, params))),
    spoken: ["modern", "legacy", "modern"],
  },
];

/** In which era requests were made. */
function erasOf(records: readonly (Recorded | undefined)[]): readonly string[] {
  return records.map((record) => {
    const hasSession = record !== undefined && sessionOf(record) !== undefined;
    const isModern = record?.headers["mcp-protocol-version"] === MODERN;
    if (isModern === hasSession) return "neither";
    return isModern ? "modern" : "legacy";
  });
}

/** The last request of this method that each of them was sent. */
function lastOf(method: string): Promise<readonly (Recorded | undefined)[]> {
  return Promise.all(upstreams.map(async (upstream) => (await upstream.sent(method)).at(-1)));
}

describe.for(CLIENTS)("a $era client", ({ era, asking, spoken }) => {
  test("is shown what all of them have", async ({ expect }) => {
    const ask = await asking();
    const { result } = await ask("tools/list");
    expect(pluck(result, "tools", "name")).toEqual(named("work"));
    expect(result).not.toHaveProperty("_meta");
    const wrapped = {
      ...{ type: "object", properties: { result: LIST_OUTPUT }, required: ["result"] },
    };
    expect(pluck(result, "tools", "outputSchema")).toEqual(
      spoken.map((spokenTo) =>
        era === "legacy" && spokenTo === "modern" ? wrapped : expect.anything(),
      ),
    );
    expect(pluck((await ask("prompts/list")).result, "prompts", "name")).toEqual(named("greet"));
    expect(pluck((await ask("resources/list")).result, "resources", "uri")).toEqual(
      SERVERS.map(uriOf),
    );
  });

  test("calls each once, in its own era where the server has it", async ({ expect }) => {
    const ask = await asking();
    const before = await Promise.all(upstreams.map((each) => each.sent("tools/call")));
    for (const name of named("work")) {
      const { result } = await ask("tools/call", { name, arguments: { n: 1 } });
      expect(result).toMatchObject(RAN);
      const _meta = { "edgeway/server": name.slice(0, -"__work".length) };
      if (era === "legacy") expect(result).toEqual({ ...RAN, _meta });
      else expect(result).toMatchObject({ resultType: "complete" });
    }
    const calls = await Promise.all(upstreams.map((each) => each.sent("tools/call")));
    expect(calls.map(({ length }) => length)).toEqual(before.map(({ length }) => length + 1));
    const last = calls.map((each) => each.at(-1));
    expect(erasOf(last)).toEqual(spoken);
    for (const record of last) {
      expect(record?.body?.params).toMatchObject({ name: "work", arguments: { n: 1 } });
    }
  });

  test("gets prompts and reads resources of each", async ({ expect }) => {
    const ask = await asking();
    for (const [n, name] of named("greet").entries()) {
      const { result } = await ask("prompts/get", { name });
      expect(result?.["description"]).toBe(SERVERS[n]);
    }
    expect(erasOf(await lastOf("prompts/get"))).toEqual(spoken);
    for (const server of SERVERS) {
      const { result } = await ask("resources/read", { uri: uriOf(server) });
      expect(result?.["contents"]).toEqual([{ uri: uriOf(server), text: server }]);
    }
    expect(erasOf(await lastOf("resources/read"))).toEqual(spoken);
  });
});

/** What each server says, and what the client is to hear of it: each once. */
async function receive(stream: EventReader): Promise<readonly unknown[]> {
  const received: unknown[] = [];
  for (const [n, upstream] of upstreams.entries()) {
    for (const news of [updated(uriOf(SERVERS[n] ?? "")), changed("tools")]) {
      await upstream.tell(news);
      const { method, params } = await stream.message();
      received.push([method, params?.["uri"]]);
    }
  }
  return received;
}

const RECEIVED = SERVERS.flatMap((server) => [
  ["notifications/resources/updated", uriOf(server)],
  ["notifications/tools/list_changed", undefined],
]);

describe("of each server hears", () => {
  /**
   * Somebody else listens before, so that each server is watched already: a watch that comes to stand
   * only after its lists were promised tells that they may have changed, and these tests count what
   * the servers say.
   */
  beforeAll(async () => {
    const notifications = Object.fromEntries(LISTS.map((list) => [`${list}ListChanged`, true]));
    const listen = await modern(MERGED, "subscriptions/listen", { notifications }, { id: "first" });
    const stream = new EventReader(listen);
    stream.collect();
    for (const upstream of upstreams) {
      await until(
        async () => (await feedOf(upstream).health()).isWatching || undefined,
        `"${upstream.slug}" to be watched`,
      );
    }
    await atRest(...upstreams);
    return () => stream.cancel();
  });

  test("a legacy client on its GET stream, and opens no session for it", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await promised(session, ...upstreams);
    for (const server of SERVERS) {
      expect(await subscribe(session, uriOf(server))).toMatchObject({ result: {} });
    }
    expect(await receive(stream)).toEqual(RECEIVED);
    await stream.silence();
    const own = await Promise.all(upstreams.map(clientsOwn));
    expect(own.flat().filter(({ body }) => body?.method === "resources/subscribe")).toEqual([]);
    await stream.cancel();
    await (await session.delete()).text();
  });

  test("a modern client on its listen stream", async ({ expect }) => {
    const notifications = {
      toolsListChanged: true,
      resourceSubscriptions: SERVERS.map(uriOf),
    };
    const stream = new EventReader(
      await modern(MERGED, "subscriptions/listen", { notifications }, { id: "l" }),
    );
    expect(await stream.message()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications },
    });
    expect(await receive(stream)).toEqual(RECEIVED);
    await stream.silence();
    await stream.cancel();
  });
});

test("both are introduced to all servers, in the words of their era", async ({ expect }) => {
  const all = Object.fromEntries(LISTS.map((list) => [list, { listChanged: true }]));
  const { opening } = await Session.open(MERGED.mcp);
  expect(opening?.result?.["capabilities"]).toMatchObject(all);
  const { result } = await responseIn(await modern(MERGED, "server/discover"));
  expect(result).toMatchObject({ supportedVersions: [MODERN], capabilities: all });
});
