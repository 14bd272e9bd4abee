/** A stream ends with what it was opened with: a grant, a key, a user. */

import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { shardName } from "../../src/auth/store/shards.ts";
import { until } from "../integration/bounded.ts";
import { type Headers, modern, send, Session } from "../integration/client.ts";
import { EventReader } from "../integration/event-reader.ts";
import { SseSession } from "../integration/sse-client.ts";
import { event, progress, streamOf, Upstream } from "../integration/upstream.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";

const ALPHA = `${ORIGIN}/mcp/alpha`;
const LONG = { name: "long", _meta: { progressToken: 1 } } as const;
const LISTEN = { notifications: { toolsListChanged: true } };
const CHANGED = { method: "notifications/tools/list_changed" };

/** Has the next call of this kind say something, and then nothing for ever. */
async function scriptLongCall(): Promise<void> {
  const longCall = { ...streamOf(event(progress(1))), end: "never" } as const;
  await Upstream.named("alpha").script({
    server: "dual",
    reactions: { "prompts/get": [longCall] },
  });
}

const STREAMS: readonly {
  readonly name: string;
  readonly open: (headers: Headers) => Promise<EventReader>;
}[] = [
  {
    name: "GET",
    async open(headers) {
      const stream = await (await Session.inUse(ALPHA, { headers })).listen();
      await stream.next(); // where it can be resumed from
      return stream;
    },
  },
  {
    name: "POST",
    async open(headers) {
      const session = await Session.inUse(ALPHA, { headers });
      await scriptLongCall();
      const stream = new EventReader(await session.request("prompts/get", LONG));
      await stream.message();
      return stream;
    },
  },
  {
    name: "HTTP+SSE",
    open: async (headers) => (await SseSession.open(`${ORIGIN}/sse/alpha`, {}, headers)).stream,
  },
  {
    name: "POST of 2026-07-28",
    async open(headers) {
      await scriptLongCall();
      const options = { headers, meta: LONG._meta };
      const stream = new EventReader(
        await modern({ mcp: ALPHA }, "prompts/get", { name: LONG.name }, options),
      );
      await stream.message();
      return stream;
    },
  },
  {
    name: "subscriptions/listen",
    async open(headers) {
      const response = await modern({ mcp: ALPHA }, "subscriptions/listen", LISTEN, { headers });
      const stream = new EventReader(response);
      await stream.message();
      return stream;
    },
  },
];

function shardOf(person: Person): DurableObjectStub {
  return env.AUTH.getByName(shardName("u", person.id));
}

/** How many streams would be notified of this end: a grant, a key, a user. */
function leasesOf(person: Person, tag: string): Promise<number> {
  return runInDurableObject(shardOf(person), (_, state) => state.getWebSockets(tag).length);
}

async function isLeased(person: Person, tag: string, count = 1): Promise<void> {
  await until(
    async () => ((await leasesOf(person, tag)) === count ? true : undefined),
    `${count} leases`,
  );
}

async function isRefused(token: string): Promise<void> {
  await until(async () => {
    const response = await send(ALPHA, { headers: as(token) });
    await response.text();
    return response.status === 401 ? true : undefined;
  }, "the token to be refused");
}

describe("a stream that has a lease ends when its key does:", () => {
  test.for(STREAMS)("$name", async ({ open }, { expect }) => {
    const [ann, bob] = [await Person.signIn(), await Person.signIn()];
    const [key, other, theirs] = [await ann.key(), await ann.key(), await bob.key()];
    const streams = [];
    for (const { token } of [key, other, theirs]) streams.push(await open(as(token)));
    const [ended, mine, another] = streams;
    await isLeased(ann, key.id);
    await isLeased(ann, other.id);
    expect(await ann.shard.endKey(ann.id, key.id)).toBe(true);
    expect(await ended?.rest()).toEqual([]);
    await isRefused(key.token);
    await mine?.silence();
    await another?.silence();
    await mine?.cancel();
    await another?.cancel();
  });
});

const ENDINGS: readonly {
  readonly name: string;
  readonly end: (person: Person, token: string) => Promise<unknown>;
}[] = [
  {
    name: "the grant is ended",
    end: (person, token) => person.shard.endGrant(person.id, token.split(":")[1] ?? ""),
  },
  {
    name: "the user is disabled",
    end: (person) => person.shard.setDisabled(person.id, true),
  },
  {
    name: "everything is revoked",
    end: (person) => person.shard.revokeEverything(person.id),
  },
];

describe("a stream of an application ends when", () => {
  test.for(ENDINGS)("$name", async ({ end }, { expect }) => {
    const person = await Person.signIn();
    const { tokens, grant } = await person.connect();
    const stream = await STREAMS[4]?.open(as(tokens.access_token));
    await isLeased(person, grant);
    await end(person, tokens.access_token);
    expect(await stream?.rest()).toEqual([]);
    await isRefused(tokens.access_token);
  });

  test("the application revokes its tokens (RFC 7009)", async ({ expect }) => {
    const person = await Person.signIn();
    const { tokens, grant, client } = await person.connect();
    const stream = await STREAMS[4]?.open(as(tokens.access_token));
    await isLeased(person, grant);
    const revoked = await person.askForToken({ token: tokens.refresh_token, client_id: client });
    expect(revoked.status).toBe(200);
    expect(await stream?.rest()).toEqual([]);
    await isRefused(tokens.access_token);
  });
});

test("a revocation before the lease exists is noticed when the lease is made", async ({
  expect,
}) => {
  const person = await Person.signIn();
  const key = await person.key();
  const stream = await STREAMS[4]?.open(as(key.token));
  expect(await leasesOf(person, key.id)).toBe(0);
  await person.shard.endKey(person.id, key.id);
  expect(await stream?.rest()).toEqual([]);
});

test("the object that closes a stream may hibernate and be evicted", async ({ expect }) => {
  const person = await Person.signIn();
  const keys = [await person.key(), await person.key()];
  const streams = [];
  for (const { token } of keys) streams.push(await STREAMS[4]?.open(as(token)));
  await isLeased(person, person.id, 2);
  await evictDurableObject(shardOf(person));
  await person.shard.endKey(person.id, keys[0]?.id ?? "");
  expect(await streams[0]?.rest()).toEqual([]);

  await isLeased(person, person.id, 1);
  await abortAllDurableObjects();
  // The notifications were lost as well, so the client is notified that there may have been changes.
  expect(await streams[1]?.message()).toMatchObject(CHANGED);
  await isLeased(person, person.id, 1);
  await person.shard.endKey(person.id, keys[1]?.id ?? "");
  for (const { data } of (await streams[1]?.rest()) ?? []) {
    expect(JSON.parse(data)).toMatchObject(CHANGED);
  }
});

test("a client that disconnects leaves no lease behind", async ({ expect }) => {
  const person = await Person.signIn();
  const { id, token } = await person.key();
  for (const { open } of STREAMS) {
    const stream = await open(as(token));
    await isLeased(person, id);
    await stream.cancel();
    await isLeased(person, id, 0);
    expect(await leasesOf(person, person.id)).toBe(0);
  }
});
