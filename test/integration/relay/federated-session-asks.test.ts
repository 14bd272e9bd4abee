/**
 * Questions of several servers at once: the client is shown who asks, and what it says comes to the
 * asker and to nobody else, whatever happens to the session's object in between.
 */

import { beforeAll, describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES } from "../asking.ts";
import { Session } from "../client.ts";
import { EventReader, type Message, responseIn } from "../event-reader.ts";
import { MERGED, resourceful } from "../merged-session.ts";
import { setLimits } from "../own-limits.ts";
import { WAYS_TO_LOSE } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import { ANSWER, event, streamOf, type Upstream } from "../upstream.ts";

const QUESTION_ID = 77;
const QUESTION = {
  id: QUESTION_ID,
  method: "elicitation/create",
  params: {
    message: "How many?",
    requestedSchema: { type: "object", properties: {} },
    _meta: { progressToken: "of the server" },
  },
};
/** Each asks in mid-call, with the same id and the same token, and goes on once it is let. */
const ASKING = resourceful("asking", {
  reactions: {
    "tools/call": [
      {
        ...streamOf(event(QUESTION, { id: "e-1" }), { gate: "go-on" }, event(ANSWER)),
        isLasting: true,
      },
    ],
    GET: [{ ...streamOf({ gate: "go-on" }, event(ANSWER)), isLasting: true }],
  },
});

let both: readonly [Upstream, Upstream];
/** Nobody else listens to it. */
let quiet: Upstream;

beforeAll(async () => {
  // What a test leaves unanswered is not answered for it while the next ones count answers.
  setLimits({ askSeconds: 600 });
  const script = resourceful("quiet", { capabilities: { tools: {} } });
  const taken = await takeSeveral([{ script: ASKING }, { script: ASKING }, { script }]);
  both = taken.slice(0, 2) as [Upstream, Upstream];
  [quiet] = taken.slice(2) as [Upstream];
});

async function answersTo(upstream: Upstream): Promise<readonly Json[]> {
  const log = await upstream.log();
  return log.flatMap(({ body }) =>
    body?.id === QUESTION_ID && body.method === undefined ? [body] : [],
  );
}

interface Asked {
  readonly upstream: Upstream;
  readonly call: EventReader;
  readonly question: Message;
}

/** Has each server ask, at the same time. */
async function askedByBoth(session: Session): Promise<readonly Asked[]> {
  return Promise.all(
    both.map(async (upstream) => {
      const call = new EventReader(await session.callTool(`${upstream.slug}__work`));
      return { upstream, call, question: await call.message() };
    }),
  );
}

test("the client is shown who asks", async ({ expect }) => {
  const session = await Session.open(MERGED.mcp, { capabilities: CAPABILITIES });
  for (const { upstream, call, question } of await askedByBoth(session)) {
    expect(question.params).toMatchObject({
      message: `[${upstream.slug}] How many?`,
      _meta: { "edgeway/server": upstream.slug },
    });
    await call.cancel();
  }
});

test("the client is shown who asks between calls", async ({ expect }) => {
  const session = await Session.open(MERGED.mcp, { capabilities: CAPABILITIES });
  const stream = await session.listen();
  await responseIn(await session.callTool(`${quiet.slug}__work`));
  await quiet.send(QUESTION);
  const { id, params } = await stream.message();
  expect(params).toMatchObject({ message: `[${quiet.slug}] How many?` });
  await session.answer(id, { result: { action: "decline" } });
  expect(await quiet.receivesAnswer(QUESTION_ID)).toMatchObject({ result: { action: "decline" } });
  await stream.cancel();
});

test("the only server of an endpoint asks without an attribution", async ({ expect }) => {
  const [{ mcp }] = both;
  const session = await Session.open(mcp, { capabilities: CAPABILITIES });
  const call = new EventReader(await session.callTool());
  const { params } = await call.message();
  expect(params).toMatchObject({ message: "How many?" });
  expect(params?._meta).not.toHaveProperty("edgeway/server");
  await call.cancel();
});

test("progress of an answer goes to the asker, under its own token", async ({ expect }) => {
  const session = await Session.open(MERGED.mcp, { capabilities: CAPABILITIES });
  const asked = await askedByBoth(session);
  const [, second] = asked;
  const before = await Promise.all(both.map((upstream) => upstream.sent("notifications/progress")));
  const progressToken = second?.question.params?._meta?.["progressToken"];
  await session.notify("notifications/progress", { progressToken, progress: 1 });
  // A token that the session never gave is nobody's.
  await session.notify("notifications/progress", { progressToken: '["x",1]', progress: 2 });
  const [here, there] = await Promise.all(
    both.map((upstream) => upstream.sent("notifications/progress")),
  );
  expect(here).toEqual(before[0]);
  expect(there?.slice(before[1]?.length).map(({ body }) => body?.params)).toEqual([
    { progressToken: "of the server", progress: 1 },
  ]);
  for (const { call } of asked) await call.cancel();
});

// One that waits for an answer is not let go, but it can be lost.
const ABRUPT = WAYS_TO_LOSE.filter(({ isAbrupt }) => isAbrupt);

describe.for([{ name: "lives on", lose: () => Promise.resolve() }, ...ABRUPT])(
  "an answer, to a session whose object $name,",
  ({ lose }) => {
    test("reaches the server that asked, and no other", async ({ expect }) => {
      const session = await Session.open(MERGED.mcp, { capabilities: CAPABILITIES });
      const asked = await askedByBoth(session);
      for (const { call } of asked) await call.cancel();
      await lose(session);
      for (const { upstream, question } of asked.toReversed()) {
        const before = await Promise.all(both.map(answersTo));
        const content = { of: upstream.slug };
        await session.answer(question.id, { result: { action: "accept", content } });
        const isThere = async (): Promise<number> => (await answersTo(upstream)).length;
        const place = both.indexOf(upstream);
        await expect.poll(isThere).toBe((before[place]?.length ?? 0) + 1);
        expect((await answersTo(upstream)).at(-1)?.["result"]).toMatchObject({ content });
        const other = both[1 - place];
        if (other !== undefined) expect(await answersTo(other)).toEqual(before[1 - place]);
      }
    });
  },
);
