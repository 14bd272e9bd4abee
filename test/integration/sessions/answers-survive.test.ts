/**
 * A client's answer to a question of its server, and the object of its session lost at the worst
 * moment: an answer that was accepted reaches the server, and a question is answered once.
 */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import type {
  Json,
  Kind,
  Piece,
  Reaction,
  Recorded,
} from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES } from "../asking.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { EventReader, type Message, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, RESULT, streamOf, Upstream } from "../upstream.ts";

// Nothing here is to be over because it took a while.
setLimits({ askSeconds: 60, lingerSeconds: 60, quietSeconds: 60 });

const QUESTION = { id: 77, method: "elicitation/create", params: { message: "?" } } as const;
const ACCEPTED = { result: { action: "accept", content: { n: 1 } } } as const;
const DECLINED = { result: { action: "decline" } } as const;
/** What is sent is recorded, and then lost with its connection. */
const LOST: Reaction = { status: 0, isLasting: true };
const BUSY: Reaction = { status: 429, isLasting: true };
const NEVER = { gate: "never" } as const;

interface Asked {
  readonly upstream: Upstream;
  readonly session: Session;
  readonly stream: EventReader;
  readonly ask: Message;
}

/** A call whose server asks, and then says nothing more on this connection. */
async function askInCall(response: Reaction[], kind: Kind = "auto"): Promise<Asked> {
  const upstream = await Upstream.take(
    {
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(QUESTION, { id: "e-1" }), NEVER)],
        GET: [{ ...streamOf(NEVER), isLasting: true }],
        response,
      },
    },
    kind,
  );
  const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
  const stream = new EventReader(await session.callTool("work", {}, "mine"));
  return { upstream, session, stream, ask: await stream.message() };
}

async function askUnasked(response: Reaction[]): Promise<Asked> {
  const upstream = await Upstream.take({ server: "legacy", reactions: { response } });
  const session = await Session.inUse(upstream.mcp, { capabilities: CAPABILITIES });
  const stream = await session.listen();
  await upstream.send(QUESTION, "e-1");
  return { upstream, session, stream, ask: await stream.message() };
}

/** What the upstream does when it is back. */
async function goOn(upstream: Upstream, ...events: readonly Piece[]): Promise<void> {
  const [call] = await upstream.sent("tools/call");
  const pieces = events.map((one) =>
    typeof one === "string" ? one.replaceAll('"{{id}}"', JSON.stringify(call?.body?.id)) : one,
  );
  await upstream.script({ server: "legacy", reactions: { GET: [streamOf(...pieces)] } });
}

/** The answers that it was sent, in order. */
async function answersAt(upstream: Upstream): Promise<readonly Recorded[]> {
  const log = await upstream.log();
  return log.filter(({ method, body }) => method === "POST" && body?.method === undefined);
}

const taken = ({ status }: Recorded): boolean => status === 202;

function takenAnswers(upstream: Upstream): Promise<readonly Json[]> {
  return until(async () => {
    const answers = (await answersAt(upstream)).filter(taken);
    return answers.length === 0 ? undefined : answers.map(({ body }) => body as Json);
  }, "an answer at the upstream");
}

describe.for([
  { name: "in mid-call", ask: askInCall },
  { name: "on the stream of what belongs to no request", ask: askUnasked },
])("the answer to a question $name", ({ ask: begin }) => {
  test("that was accepted reaches the server although the object was lost first", async ({
    expect,
  }) => {
    const { upstream, session, stream, ask } = await begin([LOST]);
    await session.answer(ask.id, ACCEPTED);
    await upstream.receivesAnswer(77);
    await goOn(upstream, event(ANSWER));
    await abortAllDurableObjects();
    expect(await takenAnswers(upstream)).toEqual([{ jsonrpc: "2.0", id: 77, ...ACCEPTED }]);
    await stream.cancel();
  });

  test("that was accepted is also delivered by a later life", async ({ expect }) => {
    const { upstream, session, stream, ask } = await begin([LOST]);
    await session.answer(ask.id, ACCEPTED);
    for (let lives = 0; lives < 2; lives++) {
      const before = (await answersAt(upstream)).length;
      await abortAllDurableObjects();
      await until(
        async () => ((await answersAt(upstream)).length > before ? true : undefined),
        "another attempt",
      );
    }
    await goOn(upstream, event(ANSWER));
    await abortAllDurableObjects();
    expect(await takenAnswers(upstream)).toEqual([{ jsonrpc: "2.0", id: 77, ...ACCEPTED }]);
    await stream.cancel();
  });

  test("that a busy server refuses is sent again, in a later life if need be", async ({
    expect,
  }) => {
    const { upstream, session, stream, ask } = await begin([BUSY]);
    await session.answer(ask.id, ACCEPTED);
    await until(
      async () => ((await answersAt(upstream)).length === 4 ? true : undefined),
      "all attempts of this life",
    );
    await upstream.script({ server: "legacy" });
    // The last refusal was received before this.
    await responseIn(await session.callTool("next"));
    await goOn(upstream, event(ANSWER));
    await abortAllDurableObjects();
    expect(await takenAnswers(upstream)).toEqual([{ jsonrpc: "2.0", id: 77, ...ACCEPTED }]);
    await stream.cancel();
  });

  test("is accepted once, in whatever life the second one arrives", async ({ expect }) => {
    const { upstream, session, stream, ask } = await begin([]);
    await session.answer(ask.id, ACCEPTED);
    await upstream.receivesAnswer(77);
    await session.answer(ask.id, DECLINED);
    for (let lives = 0; lives < 2; lives++) {
      await abortAllDurableObjects();
      await session.answer(ask.id, DECLINED);
    }
    await upstream.script({ server: "legacy" });
    // What was sent before it has come before it.
    await responseIn(await session.callTool("next"));
    const answers = (await answersAt(upstream)).map(({ body }) => body);
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 77, ...ACCEPTED }]);
    await stream.cancel();
  });

  test("is not delivered again by a later life when the server has it", async ({ expect }) => {
    const { upstream, session, stream, ask } = await begin([]);
    await session.answer(ask.id, ACCEPTED);
    await takenAnswers(upstream);
    await upstream.script({ server: "legacy" });
    for (let lives = 0; lives < 2; lives++) {
      await responseIn(await session.callTool("next"));
      await abortAllDurableObjects();
    }
    await responseIn(await session.callTool("next"));
    expect(await answersAt(upstream)).toHaveLength(1);
    await stream.cancel();
  });
});

describe("a call that was resumed while its question is open", () => {
  test("is not given up for the time that its client takes", async ({ expect }) => {
    const { upstream, session, stream, ask } = await askInCall([], "hasty");
    await goOn(upstream, { gate: "answered" }, event(ANSWER));
    await abortAllDurableObjects();
    await upstream.receives("GET");
    // A clock that was set later than that of the call, and runs for as long.
    const other = await Session.open(upstream.mcp);
    await upstream.script({ server: "legacy", reactions: { "tools/call": [{ heldBy: "never" }] } });
    expect(await responseIn(await other.callTool())).toMatchObject({ error: { code: -32603 } });
    await session.answer(ask.id, ACCEPTED);
    expect(await upstream.receivesAnswer(77)).toMatchObject(ACCEPTED);
    await upstream.open("answered");
    expect(await stream.message()).toMatchObject({ id: "mine", result: RESULT });
  });

  test("is given up when its client has answered and no result arrives", async ({ expect }) => {
    const { session, upstream, stream, ask } = await askInCall([], "hasty");
    await abortAllDurableObjects();
    await upstream.receives("GET");
    await session.answer(ask.id, ACCEPTED);
    const end = await stream.message();
    expect(end).toMatchObject({ id: "mine", error: { data: { reason: "timeout" } } });
  });

  test("cancels the question at its client when the server withdraws it", async ({ expect }) => {
    const { upstream, session, stream, ask } = await askInCall([]);
    const params = { requestId: 77, reason: "never mind" };
    const withdrawal = event({ method: "notifications/cancelled", params }, { id: "e-2" });
    await goOn(upstream, withdrawal, event(ANSWER, { id: "e-3" }));
    await abortAllDurableObjects();
    expect(await stream.message()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: ask.id },
    });
    expect(await stream.message()).toMatchObject({ id: "mine", result: RESULT });
    await session.answer(ask.id, ACCEPTED);
    await responseIn(await session.callTool("next"));
    expect(await answersAt(upstream)).toEqual([]);
  });

  test("knows that a question was withdrawn before", async ({ expect }) => {
    const params = { requestId: 77, reason: "never mind" };
    const withdrawal = event({ method: "notifications/cancelled", params }, { id: "e-2" });
    const upstream = await Upstream.take(
      {
        server: "legacy",
        reactions: {
          "tools/call": [streamOf(event(QUESTION, { id: "e-1" }), withdrawal, NEVER)],
          GET: [{ ...streamOf(NEVER), isLasting: true }],
        },
      },
      "hasty",
    );
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const stream = new EventReader(await session.callTool("work", {}, "mine"));
    const ask = await stream.message();
    expect(await stream.message()).toMatchObject({ params: { requestId: ask.id } });
    await abortAllDurableObjects();
    // Nobody is waited for, so its clock runs.
    const end = await stream.message();
    expect(end).toMatchObject({ id: "mine", error: { data: { reason: "timeout" } } });
  });
});

/** @returns a session whose client does not listen, though its server is listened to. */
async function away(upstream: Upstream): Promise<Session> {
  const session = await Session.inUse(upstream.mcp, { capabilities: CAPABILITIES });
  const stream = await session.listen();
  await upstream.send({ method: "notifications/n", params: { n: 0 } }, "e-0");
  await stream.message();
  await stream.cancel();
  return session;
}

describe("a question that waited for its client to listen", () => {
  test.for([
    { name: "when it is asked", loses: ["waiting"] },
    { name: "when it was asked", loses: ["asked"] },
    { name: "before and after it is asked", loses: ["waiting", "asked"] },
    { name: "never", loses: [] },
  ])("can be answered, its object lost $name", async ({ loses }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await away(upstream);
    const meta = { _meta: { progressToken: "theirs" } };
    await upstream.send({ ...QUESTION, params: { ...QUESTION.params, ...meta } }, "e-1");
    await upstream.send({ id: 78, method: "ping" }, "e-2");
    await upstream.receivesAnswer(78); // so that what came before has been taken
    if (loses.includes("waiting")) await abortAllDurableObjects();
    const stream = await session.listen();
    const seen = await stream.next();
    const ask = JSON.parse((await stream.next())?.data ?? "") as Message;
    expect(ask).toMatchObject({ method: QUESTION.method, params: { message: "?" } });
    expect(seen?.data).toBe("");
    expect(ask.params?.["_meta"]).toEqual({ progressToken: ask.id });
    if (loses.includes("asked")) await abortAllDurableObjects();
    await session.answer(ask.id, ACCEPTED);
    await session.answer(ask.id, DECLINED);
    expect(await takenAnswers(upstream)).toContainEqual({ jsonrpc: "2.0", id: 77, ...ACCEPTED });
    await responseIn(await session.callTool("next"));
    const answers = (await answersAt(upstream)).filter(({ body }) => body?.id === 77);
    expect(answers).toHaveLength(1);
    await stream.cancel();
  });

  test("and was withdrawn meanwhile is cancelled under its new id", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await away(upstream);
    await upstream.send(QUESTION, "e-1");
    const params = { requestId: 77, reason: "never mind" };
    await upstream.send({ method: "notifications/cancelled", params }, "e-2");
    await upstream.send({ id: 78, method: "ping" }, "e-3");
    await upstream.receivesAnswer(78);
    const stream = await session.listen();
    const ask = await stream.message();
    expect(ask).toMatchObject({ method: QUESTION.method });
    expect(await stream.message()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: ask.id },
    });
    await stream.cancel();
  });
});
