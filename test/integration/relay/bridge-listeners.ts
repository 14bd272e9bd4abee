/** Modern clients that listen at a legacy server, and the sessions that they have at it themselves. */

import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";

import type { BridgeObject } from "../../../durable-objects/bridge-object.ts";
import type { Json, Recorded } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { modern } from "../client.ts";
import { EventReader, type Message } from "../event-reader.ts";
import { event, methodOf, sessionOf, streamOf, Upstream } from "../upstream.ts";

const UPDATED = "notifications/resources/updated";
const ACK = "notifications/subscriptions/acknowledged";

export function updated(uri: string): Json {
  return { method: UPDATED, params: { uri } };
}

export interface Listener {
  readonly stream: EventReader;
  /** The updated URIs since its acknowledgement. */
  updates(): readonly unknown[];
  /** Waits for so many updates. */
  tells(count: number): Promise<readonly unknown[]>;
}

/** Once it is acknowledged. */
export async function listen(upstream: Upstream, uris: readonly string[]): Promise<Listener> {
  const params = { notifications: { resourceSubscriptions: uris } };
  const stream = new EventReader(await modern(upstream, "subscriptions/listen", params));
  const messages: readonly Message[] = stream.collect();
  await until(async () => messages[0], "the acknowledgement");
  const [{ method, params: promised } = {}] = messages;
  const honoured = promised?.["notifications"];
  if (method !== ACK || JSON.stringify(honoured) !== JSON.stringify(params.notifications)) {
    throw new Error(`Not honoured: ${JSON.stringify(messages[0])}`);
  }
  const updates = (): readonly unknown[] =>
    messages.slice(1).map((message) => message.params?.["uri"] ?? message);
  return {
    stream,
    updates,
    tells: (count) =>
      until(async () => (updates().length >= count ? updates() : undefined), `${count} updates`),
  };
}

/**
 * A server whose feed is notified of these once the gate `feed` is open, and whose tool says this before
 * it answers.
 */
export function takeLegacy(feed: readonly string[], inCalls: readonly Json[]): Promise<Upstream> {
  const said = inCalls.map((message) => event(message));
  const answer = streamOf(...said, event({ id: "{{id}}", result: {} }));
  return Upstream.take({
    server: "legacy",
    reactions: {
      GET: [
        {
          ...streamOf({ gate: "feed" }, ...feed.map((uri) => event(updated(uri)))),
          end: "never",
        },
      ],
      "tools/call": said.length === 0 ? [] : [{ ...answer, isLasting: true }],
    },
  });
}

/** What was sent, in order, in the session in which tools are called. */
export async function inOwnSession(upstream: Upstream): Promise<readonly Recorded[]> {
  const log = await upstream.log();
  const call = log.find((record) => methodOf(record) === "tools/call");
  return log.filter((record) => call !== undefined && sessionOf(record) === sessionOf(call));
}

/** That of it which is calls and subscriptions: "+uri", "-uri", "call". */
export async function linesOf(upstream: Upstream): Promise<readonly string[]> {
  return (await inOwnSession(upstream)).flatMap((record) => {
    const uri = String(record.body?.params?.["uri"]);
    switch (methodOf(record)) {
      case "tools/call":
        return ["call"];
      case "resources/subscribe":
        return [`+${uri}`];
      case "resources/unsubscribe":
        return [`-${uri}`];
      default:
        return [];
    }
  });
}

/** Waits until that is what they are, in any order from the first to the last. */
export function untilLines(upstream: Upstream, lines: readonly string[]): Promise<true> {
  const wanted = JSON.stringify(lines.toSorted());
  return until(async () => {
    const are = (await linesOf(upstream)).toSorted();
    return JSON.stringify(are) === wanted ? true : undefined;
  }, `${wanted} in the client's session`);
}

async function names(): Promise<readonly string[]> {
  return (await listDurableObjectIds(env.BRIDGES)).map(String);
}

/** The object that comes to life meanwhile. */
export async function bridgesOf<T>(
  act: () => Promise<T>,
): Promise<{ readonly value: T; readonly bridge: DurableObjectStub<BridgeObject> }> {
  const before = await names();
  const value = await act();
  const id = await until(
    async () => (await names()).find((name) => !before.includes(name)),
    "an object that holds a session",
  );
  return { value, bridge: env.BRIDGES.get(env.BRIDGES.idFromString(id)) };
}
