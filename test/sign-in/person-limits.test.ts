/** Limits that are a person's: another application, or another session, brings no more of them. */

import { beforeAll, describe, test, vi } from "vitest";

import { until } from "../integration/bounded.ts";
import { type Headers, modern, send, Session } from "../integration/client.ts";
import { EventReader } from "../integration/event-reader.ts";
import { setLimits } from "../integration/own-limits.ts";
import { SseSession } from "../integration/sse-client.ts";
import { ORIGIN } from "./gateway.ts";
import { as, type Key, Person } from "./people.ts";

const ALPHA = `${ORIGIN}/mcp/alpha`;
const PER_MINUTE = 30;
const STREAMS = 4;
const LISTEN = { notifications: { toolsListChanged: true } };

beforeAll(() => {
  setLimits({ requestsPerMinute: PER_MINUTE, streamsPerPerson: STREAMS });
});

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

const openSse = ({ token }: Key): Promise<SseSession> =>
  SseSession.open(`${ORIGIN}/sse/alpha`, {}, as(token));
const get = (path: string, headers: Headers): Promise<Response> =>
  send(ORIGIN + path, { headers: { Accept: "text/event-stream", ...headers } });

test("requests are counted per person over all their applications", async ({ expect }) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const [ann, bob] = [await Person.signIn(), await Person.signIn()];
  const tokens = [
    ...[(await ann.connect()).tokens.access_token, (await ann.connect()).tokens.access_token],
    (await ann.key()).token,
  ];
  const statuses: number[] = [];
  for (let n = 0; n < PER_MINUTE + 3; n++) {
    const token = tokens[n % tokens.length] ?? "";
    statuses.push(await statusOf(send(ALPHA, { method: "PUT", headers: as(token) })));
  }
  expect(statuses.filter((status) => status === 405).length).toBe(PER_MINUTE);
  expect(statuses.slice(-3)).toEqual([429, 429, 429]);
  const theirs = (await bob.key()).token;
  expect(await statusOf(send(ALPHA, { method: "PUT", headers: as(theirs) }))).toBe(405);
});

describe("a person has a limited number of concurrent streams", () => {
  test("with GET /sse, over all of their applications", async ({ expect }) => {
    const [ann, bob] = [await Person.signIn(), await Person.signIn()];
    const [one, other, theirs] = [await ann.key(), await ann.key(), await bob.key()];
    const streams: SseSession[] = [];
    for (let n = 0; n < STREAMS; n++) streams.push(await openSse(n % 2 === 0 ? one : other));
    const refused = await get("/sse/alpha", as(other.token));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await refused.json()).toMatchObject({
      error: { code: -32000, message: expect.stringContaining("More than 4 streams") as string },
    });
    // Open streams continue, and another person has streams of their own.
    expect(await streams[0]?.request("tools/list")).toHaveProperty("result");
    await (await openSse(theirs)).stream.cancel();

    await streams.pop()?.stream.cancel();
    await until(async () => {
      const response = await get("/sse/alpha", as(one.token));
      await response.body?.cancel();
      return response.status === 200 ? true : undefined;
    }, "room for another stream");
    for (const { stream } of streams) await stream.cancel();
  });

  test("however many are requested at the same time", async ({ expect }) => {
    const { token } = await (await Person.signIn()).key();
    const responses = await Promise.all(
      Array.from({ length: 3 * STREAMS }, () => get("/sse/alpha", as(token))),
    );
    const statuses = responses.map(({ status }) => status);
    for (const { body } of responses) await body?.cancel();
    expect(statuses.filter((status) => status === 200).length).toBe(STREAMS);
    expect(statuses.filter((status) => status === 429).length).toBe(2 * STREAMS);
  });

  test("with GET of any session, while calls continue", async ({ expect }) => {
    const { token } = await (await Person.signIn()).key();
    const sessions: Session[] = [];
    const streams: EventReader[] = [];
    for (let n = 0; n < STREAMS; n++) {
      sessions.push(await Session.inUse(ALPHA, { headers: as(token) }));
      streams.push(new EventReader(await (sessions[n] as Session).get()));
    }
    const [session] = sessions;
    expect(await statusOf((session as Session).get())).toBe(429);
    expect(await statusOf((session as Session).request("tools/list"))).toBe(200);
    for (const stream of streams) await stream.cancel();
  });

  test("with subscriptions/listen", async ({ expect }) => {
    const ann = await Person.signIn();
    const streams: EventReader[] = [];
    for (let n = 0; n < STREAMS; n++) {
      const headers = as((await ann.key()).token);
      streams.push(
        new EventReader(await modern({ mcp: ALPHA }, "subscriptions/listen", LISTEN, { headers })),
      );
      await streams[n]?.message();
    }
    const headers = as((await ann.key()).token);
    const refused = modern({ mcp: ALPHA }, "subscriptions/listen", LISTEN, { headers });
    expect(await statusOf(refused)).toBe(429);
    for (const stream of streams) await stream.cancel();
  });
});
