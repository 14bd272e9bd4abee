/** What happened, with sign-in: people see their own calls, administrators everyone's, and who leaves is forgotten. */

import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { activitiesIn, batchesTo } from "../../durable-objects/activities.ts";
import { ActivityObject } from "../../durable-objects/activity-object.ts";
import { writeCall } from "../../src/activity/call.ts";
import { activityShard } from "../../src/activity/shards.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import type { CallRecord } from "../../src/observability/call-record.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { responseIn } from "../integration/event-reader.ts";
import { modern } from "../integration/client.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { as } from "./people.ts";
import { restartShardOf } from "./restart-shard.ts";
import { Visitor } from "./visitor.ts";

const ALPHA = { mcp: `${ORIGIN}/mcp/alpha` };
const EVERYONES = "/activity?of=everyone";
const OPERATORS = ["/usage", "/usage.csv", EVERYONES, "/activity/live?of=everyone"];

let root: Visitor;
let ann: Visitor;
let bob: Visitor;

beforeAll(async () => {
  changeConfiguration({ ACTIVITY: "all" });
  [root, ann, bob] = [
    await Visitor.arrive({ isAdmin: true }),
    await Visitor.arrive(),
    await Visitor.arrive(),
  ];
  await Promise.all([called(ann, "of-ann"), called(bob, "of-bob")]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function callsOf({ person }: Visitor): ReturnType<ReturnType<typeof activitiesIn>["calls"]> {
  return activitiesIn(env).calls({ person: person.id }, 100);
}

/** Has somebody call a tool. Resolves once that is written down. */
async function called(visitor: Visitor, name: string): Promise<void> {
  const { token } = await visitor.person.key();
  const answer = await responseIn(
    await modern(ALPHA, "tools/call", { name, arguments: {} }, { headers: as(token) }),
  );
  if (!("result" in answer)) throw new Error(`The call failed: ${JSON.stringify(answer)}`);
  await vi.waitFor(
    async () => {
      const { calls } = await callsOf(visitor);
      if (!calls.some((call) => call.name === name)) throw new Error(`${name} is not listed`);
    },
    { timeout: 20_000, interval: 50 },
  );
}

describe("the pages of what happened", () => {
  test.for(["/activity", ...OPERATORS])(
    "%s leads to the sign-in, and back",
    async (path, { expect }) => {
      const { token } = await ann.person.key();
      for (const headers of [{}, as(token)]) {
        const response = await gateway.send(ORIGIN + path, { headers });
        expect([response.status, response.headers.get("location")]).toEqual([
          ...[303, `/login?${new URLSearchParams({ to: path }).toString()}`],
        ]);
      }
    },
  );

  test.for(OPERATORS)("%s is for administrators", async (path, { expect }) => {
    const page = await ann.visit(path);
    expect(page.status).toBe(403);
    expect(page.text).not.toContain("of-bob");
  });

  test("show people their own calls, whatever they ask for", async ({ expect }) => {
    const query = new URLSearchParams({ person: bob.person.id }).toString();
    for (const path of ["/activity", `/activity?${query}`]) {
      const { text } = await ann.visit(path);
      expect(text).toContain("of-ann");
      expect(text).not.toContain("of-bob");
      expect(text).not.toContain("Usage");
    }
  });

  test("show administrators everyone's, by name, and one person's", async ({ expect }) => {
    const everyones = await root.visit(EVERYONES);
    expect(everyones.text).toContain("of-ann");
    expect(everyones.text).toContain("of-bob");
    expect(everyones.text).toContain("Somebody");
    const query = new URLSearchParams({ of: "everyone", person: ann.person.id }).toString();
    const anns = await root.visit(`/activity?${query}`);
    expect(anns.text).toContain("of-ann");
    expect(anns.text).not.toContain("of-bob");
    const own = await root.visit("/activity");
    expect(own.text).not.toContain("of-ann");
    for (const path of ["/usage", "/usage.csv"]) {
      const { html } = await root.visit(path);
      expect(html).toContain("of-ann");
      expect(html).toContain(ann.person.id);
    }
  });
});

class Live {
  readonly status: number;
  text = "";
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;

  constructor({ status, body }: Response) {
    this.status = status;
    this.#reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Reads on until the text has this in it. */
  async until(part: string): Promise<void> {
    while (!this.text.includes(part)) {
      const read = await this.#reader?.read();
      if (read?.done !== false) throw new Error(`The stream has ended with: ${this.text}`);
      this.text += read.value;
    }
  }

  async leave(): Promise<void> {
    await this.#reader?.cancel();
  }
}

async function look({ browser }: Visitor, path: string, lastEventId?: string): Promise<Live> {
  const headers = {
    Cookie: browser.jar.headerFor(new URL(ORIGIN), "GET", false) ?? "",
    ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }),
  };
  return new Live(await gateway.send(ORIGIN + path, { headers }));
}

/** Has so many calls of a person written down, of which the last ends at `at`. */
function written({ person }: Visitor, count: number, at: number): Promise<void> {
  const record: CallRecord = {
    ...{ person: person.id, principal: `${person.id}.c`, server: "alpha", method: "tools/call" },
    // Of one tool: the page of usage has the names of the first ones alone.
    name: "many",
    ...{ outcome: "ok", ms: 1, requestBytes: 1, resultBytes: 1 },
  } as CallRecord;
  const lines = Array.from({ length: count }, (_, n) => {
    return writeCall({ ...record, at: at - count + 1 + n, clientName: `call-${at}-${n}.` });
  });
  return batchesTo(env)(activityShard(person.id), { lines, latest: at, unlisted: [] });
}

/** @returns the address of the stream of a page that has this person's calls up to now. */
async function liveOf({ person }: Visitor): Promise<string> {
  const { calls } = await activitiesIn(env).calls({ person: person.id }, 1);
  const [newest = { at: 0, id: "0" }] = calls;
  return `/activity/live?since=${newest.at}_${newest.id}`;
}

const MORE = "More happened than is shown. Reload the page.";

describe("a page that is live", () => {
  test("shows people their own calls, and administrators everyone's", async ({ expect }) => {
    const [own, all] = [
      await look(ann, "/activity/live"),
      await look(root, "/activity/live?of=everyone"),
    ];
    await Promise.all([own.until("begin"), all.until("begin")]);
    await called(bob, "live-of-bob");
    await called(ann, "live-of-ann");
    await Promise.all([
      own.until("live-of-ann"),
      all.until("live-of-ann"),
      all.until("live-of-bob"),
    ]);
    expect(own.text).not.toContain("live-of-bob");
  });

  test("shows up to fifty calls that ended before it was live, and says when there were more", async ({
    expect,
  }) => {
    const eve = await Visitor.arrive();
    const now = Date.now();
    await written(eve, 60, now);
    const path = await liveOf(eve);
    await written(eve, 50, now + 100);
    const whole = await look(eve, path);
    await whole.until(`call-${now + 100}-0.`);
    expect(whole.text).not.toContain("event: end");
    await whole.leave();
    await written(eve, 1, now + 200);
    const cut = await look(eve, path);
    await cut.until(MORE);
    expect(cut.text).toContain("event: end");
    expect(cut.text).not.toContain(`call-${now + 200}`);
  });

  test("goes on after its last call when the browser comes back, and with what was written down late", async ({
    expect,
  }) => {
    const eve = await Visitor.arrive();
    const now = Date.now();
    await written(eve, 1, now);
    const path = await liveOf(eve);
    const before = await look(eve, path);
    await before.until(`call-${now}-0.`);
    await written(eve, 60, now + 100);
    await before.until(`call-${now + 100}-0.`);
    const last = Array.from(before.text.matchAll(/^id: (.+)$/gm), ([, id]) => id).at(-1);
    await before.leave();
    await written(eve, 1, now + 90);
    await written(eve, 1, now + 200);
    const after = await look(eve, path, last);
    await after.until(`call-${now + 200}-0.`);
    await written(eve, 1, now + 300);
    await after.until(`call-${now + 300}-0.`);
    expect(after.text).toContain(`call-${now + 90}-0.`);
    expect(after.text).not.toContain(MORE);
    await after.leave();
  });

  test("ends soon after the access of its reader", async ({ expect }) => {
    const eve = await Visitor.arrive();
    const stream = await look(eve, "/activity/live");
    await stream.until("begin");
    await eve.shard.setDisabled(eve.person.id, true);
    await stream.until("You are not signed in any more.");
    expect(stream.text).toContain("event: end");
  });

  test("is for eight at a time, and a third tab takes the place of the first", async ({
    expect,
  }) => {
    const [first, second] = [await look(bob, "/activity/live"), await look(bob, "/activity/live")];
    await Promise.all([first.until("begin"), second.until("begin")]);
    const third = await look(bob, "/activity/live");
    expect(third.status).toBe(200);
    await first.until("This page is live in another tab.");
    await Promise.all([second, third].map((each) => each.leave()));
  });
});

describe("where everybody sees their own calls alone", () => {
  test("administrators see totals, and neither names nor calls", async ({ expect }) => {
    changeConfiguration({ ACTIVITY: "own" });
    try {
      const everyones = await root.visit(EVERYONES);
      expect(everyones.text).not.toContain("of-ann");
      const query = new URLSearchParams({ of: "everyone", person: ann.person.id }).toString();
      expect((await root.visit(`/activity?${query}`)).text).not.toContain("of-ann");
      const usage = await root.visit(`/usage?person=${ann.person.id}`);
      expect(usage.text).toContain("totals of everybody");
      expect(usage.text).toContain("of-bob");
      const csv = (await root.visit("/usage.csv")).html;
      expect(csv).toContain("of-ann");
      for (const text of [usage.html, csv]) {
        expect(text).not.toContain(ann.person.id);
        expect(text).not.toContain("Somebody");
      }
      expect((await ann.visit("/activity")).text).toContain("of-ann");
    } finally {
      changeConfiguration({ ACTIVITY: "all" });
    }
  });
});

describe("a person's calls", () => {
  test.for([
    ["is disabled", (visitor: Visitor) => visitor.shard.setDisabled(visitor.person.id, true)],
    ["revokes everything", (visitor: Visitor) => visitor.shard.revokeEverything(visitor.person.id)],
  ] as const)("are forgotten when the person %s", async ([, end], { expect }) => {
    const eve = await Visitor.arrive();
    await called(eve, "of-eve");
    await end(eve);
    expect((await callsOf(eve)).calls).toEqual([]);
    expect((await root.visit("/usage.csv")).html).not.toContain(eve.person.id);
    expect((await callsOf(ann)).calls).not.toEqual([]);
  });

  test("are forgotten later, when the object that has them cannot be reached", async ({
    expect,
  }) => {
    const eve = await Visitor.arrive();
    await called(eve, "of-eve");
    const { id } = eve.person;
    const down = vi.spyOn(ActivityObject.prototype, "forget").mockImplementationOnce(() => {
      throw new Error("The object is gone");
    });
    await eve.shard.setDisabled(id, true);
    expect(down).toHaveBeenCalledOnce();
    expect((await callsOf(eve)).calls).toHaveLength(1);
    // Not even the end of the object that was to see to it is in the way.
    await restartShardOf(id);
    await runDurableObjectAlarm(env.AUTH.getByName(shardName("u", id)));
    expect((await callsOf(eve)).calls).toEqual([]);
  });

  test("that are made after a person is let in again stay", async ({ expect }) => {
    const eve = await Visitor.arrive();
    await eve.shard.setDisabled(eve.person.id, true);
    await eve.shard.setDisabled(eve.person.id, false);
    await called(eve, "again");
    await runDurableObjectAlarm(env.AUTH.getByName(shardName("u", eve.person.id)));
    expect((await callsOf(eve)).calls).toHaveLength(1);
  });
});
