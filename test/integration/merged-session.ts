/** What tests of sessions with several servers share: scripts, and what is a client's own at a server. */

import { readStored } from "../../durable-objects/stored-json.ts";
import { runInDurableObject } from "cloudflare:test";

import type { SavedWanted } from "../../src/notifications/legacy/session-subscriptions.ts";
import type { Json, Reaction, Recorded, Script } from "../support/scripted-upstream-script.ts";
import { until } from "./bounded.ts";
import type { Session } from "./client.ts";
import { type Message, responseIn } from "./event-reader.ts";
import { objectOf } from "./session-object.ts";
import { takeSeveral } from "./several-servers.ts";
import { jsonOf, sessionOf, type Upstream } from "./upstream.ts";

export const MERGED = { mcp: "/mcp", sse: "/sse" } as const;

/** Meets every request of a kind with this result. */
export const always = (result: Json): readonly Reaction[] => [
  { ...jsonOf({ result }), isLasting: true },
];

/** A legacy server with one tool, and two resources that are called after it. */
export function resourceful(name: string, more: Partial<Script> = {}): Script {
  const resources = ["1", "2"].map((n) => ({ uri: `file:///${name}/${n}`, name: n }));
  return {
    server: "legacy",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    ...more,
    reactions: {
      "resources/list": always({ resources }),
      "resources/templates/list": always({ resourceTemplates: [] }),
      "prompts/list": always({ prompts: [] }),
      ...more.reactions,
    },
  };
}

/** Configures two such servers, and no other: `first` and `second`. */
export async function takeTwo(): Promise<readonly [Upstream, Upstream]> {
  const taken = await takeSeveral([
    { script: resourceful("first") },
    { script: resourceful("second") },
  ]);
  return taken as [Upstream, Upstream];
}

/** What a server was sent in the sessions of clients: the gateway has others, of its own. */
export async function clientsOwn(upstream: Upstream): Promise<readonly Recorded[]> {
  const used = await upstream.used();
  const own = new Set(
    used.flatMap(({ body, opened }) => {
      const info = body?.params?.["clientInfo"] as Json | undefined;
      return opened !== undefined && info?.["name"] === "integration" ? [opened] : [];
    }),
  );
  return used.filter((record) => own.has(record.opened ?? sessionOf(record) ?? ""));
}

export const LISTS = ["tools", "prompts", "resources"];

export const updated = (uri: string): Json => ({
  method: "notifications/resources/updated",
  params: { uri },
});
export const changed = (list: string): Json => ({ method: `notifications/${list}/list_changed` });

export function subscribe(session: Session, uri: unknown): Promise<Message> {
  return session.request("resources/subscribe", { uri }, 5).then(responseIn);
}

/** Waits until a session was promised to be told of the lists of these servers. */
export async function promised(session: Session, ...upstreams: readonly Upstream[]): Promise<void> {
  const isSo = async (): Promise<true | undefined> => {
    const stored = await runInDurableObject(await objectOf(session), (_instance, { storage }) =>
      readStored(storage.kv.get("session")),
    );
    const lists = (stored as { wanted?: SavedWanted } | undefined)?.wanted?.lists ?? {};
    return upstreams.every(({ slug }) => lists[slug]?.length === LISTS.length) ? true : undefined;
  };
  await until(isSo, "the lists to be watched");
}
