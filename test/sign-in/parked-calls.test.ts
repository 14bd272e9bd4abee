/**
 * Calls of two users that wait at one legacy server for answers: with the same arguments, and with each
 * other's states. Nothing of one is there for the other, and nothing of such a try reaches the server.
 */

import { beforeEach, expect, test } from "vitest";

import type { Json, Recorded } from "../support/scripted-upstream-script.ts";
import { modern } from "../integration/client.ts";
import { type Message, responseIn } from "../integration/event-reader.ts";
import {
  ANSWER,
  event,
  methodOf,
  RESULT,
  sessionOf,
  streamOf,
  Upstream,
} from "../integration/upstream.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";

const PATH = `${ORIGIN}/mcp/alpha`;
const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const ACCEPT = { action: "accept", content: { ok: true } };
const CALL = { name: "work", arguments: { n: 1 } };

interface User {
  readonly token: string;
  /** What its call was answered with. */
  readonly state: unknown;
}

let upstream: Upstream;
let ann: User;
let bob: User;

/** Each is asked by a call of its own, that stays open. */
beforeEach(async () => {
  upstream = Upstream.named("alpha");
  // It was a server of both eras for others: the gateway finds out with a call that nothing depends on.
  await upstream.script({ server: "legacy" });
  await call((await (await Person.signIn()).key()).token, CALL);
  const asking = streamOf(event(ELICIT), { gate: "answered" }, event(ANSWER));
  await upstream.script({ server: "legacy", reactions: { "tools/call": [asking, asking] } });
  ann = await ask();
  bob = await ask();
});

async function ask(): Promise<User> {
  const person = await Person.signIn();
  const { access_token: token } = (await person.connect()).tokens;
  const { result } = await call(token, CALL);
  expect(result).toMatchObject({ resultType: "input_required" });
  return { token, state: result?.["requestState"] };
}

async function call(token: string, params: Json): Promise<Message> {
  const capabilities = { elicitation: { form: {} } };
  return responseIn(
    await modern({ mcp: PATH }, "tools/call", params, { capabilities, headers: as(token) }),
  );
}

function retry(token: string, state: unknown): Promise<Message> {
  return call(token, { ...CALL, inputResponses: { r1: ACCEPT }, requestState: state });
}

/** The sessions of the two parked calls at the server. */
async function parkedSessions(): Promise<ReadonlySet<string | undefined>> {
  return new Set((await upstream.sent("tools/call")).slice(-2).map(sessionOf));
}

test("each parked call has its own session at the server", async () => {
  const sessions = await parkedSessions();
  expect(sessions.size).toBe(2);
  expect(sessions).not.toContain(undefined);
});

test("B89: the state of the other call is refused, and nothing of it reaches the server", async () => {
  const parked = await parkedSessions();
  // The server has other sessions, which come and go.
  const isOfCalls = (record: Recorded): boolean =>
    methodOf(record) === "tools/call" || parked.has(sessionOf(record) ?? "");
  const reached = async (): Promise<readonly string[]> =>
    (await upstream.log()).filter(isOfCalls).map(methodOf);
  const before = await reached();
  for (const [token, state] of [
    [ann.token, bob.state],
    [bob.token, ann.state],
  ] as const) {
    const { error } = await retry(token, state);
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toContain("requestState");
  }
  expect(await reached()).toEqual(before);
});

test("each parked call still gets its own answer", async () => {
  await retry(ann.token, bob.state);
  await upstream.open("answered");
  for (const { token, state } of [bob, ann]) {
    expect((await retry(token, state)).result).toMatchObject(RESULT);
  }
});
