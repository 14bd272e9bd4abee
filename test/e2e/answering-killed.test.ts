/**
 * Legacy clients answer the questions of their servers, and the gateway is killed as soon as it has
 * said 202, when no server has been reached with an answer yet. What was accepted reaches its server
 * after the restart, once; and no call runs twice.
 */

import { afterAll, beforeAll, test } from "vitest";

import { messageOf } from "../support/asking-call.ts";
import { type AskingUpstream, startAskingUpstream } from "../support/asking-upstream.ts";
import type { Json } from "../support/clients-face.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { openRawSession, postTo, type RawSession } from "../support/raw-session.ts";
import { ResumableCall } from "../support/resumable-call.ts";
import { until } from "../support/until.ts";

const TEST_TIMEOUT_MS = 180_000;
const CALLS = 20;

type Kind = "resumable" | "forgetful";

let upstreams: Readonly<Record<Kind, AskingUpstream>>;
let gateway: KillableGateway;

beforeAll(async () => {
  upstreams = {
    resumable: await startAskingUpstream(true),
    forgetful: await startAskingUpstream(false),
  };
  gateway = await startKillableGateway({
    servers: {
      resumable: { url: upstreams.resumable.url },
      forgetful: { url: upstreams.forgetful.url },
    },
  });
});
afterAll(async () => {
  await gateway.remove();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

interface Answering {
  readonly name: string;
  readonly session: RawSession;
  readonly call: ResumableCall;
  /** Over when its connection is. */
  readonly reading: Promise<void>;
}

async function begin(kind: Kind, index: number): Promise<Answering> {
  const name = `${kind}, ${index}`;
  const session = await openRawSession(`${gateway.url}/mcp/${kind}`);
  const params = { name: "ask", arguments: { call: name, questions: 1 } };
  const call = new ResumableCall(session, {
    jsonrpc: "2.0",
    id: name,
    method: "tools/call",
    params,
  });
  const reading = call.post();
  await until(() => call.taken.length === 1, `the client of ${name} is asked`);
  return { name, session, call, reading };
}

async function answer({ name, session, call }: Answering): Promise<number> {
  const [question] = call.taken;
  const result = { action: "accept", content: { answer: `yes, ${name}` } };
  const response = await postTo(session, { jsonrpc: "2.0", id: question?.["id"], result });
  await response.body?.cancel();
  return response.status;
}

function lastOf({ call }: Answering): Json | undefined {
  return call.taken.at(-1);
}

test.for(["resumable", "forgetful"] as const)(
  "an accepted answer of the user survives a kill of the gateway: a %s server",
  { timeout: TEST_TIMEOUT_MS },
  async (kind, { expect }) => {
    const upstream = upstreams[kind];
    const callers: Answering[] = [];
    for (let index = 0; index < CALLS; index++) callers.push(await begin(kind, index));
    for (const { name, call } of callers) {
      expect(call.taken[0]).toMatchObject({ params: { message: messageOf(name, 1) } });
    }
    // Every attempt before the kill comes to nothing.
    const calls = callers.map(({ name }) => upstream.call(name));
    for (const { losses } of calls) losses.push(...Array<"the answer">(100).fill("the answer"));
    expect(await Promise.all(callers.map(answer))).toEqual(callers.map(() => 202));
    await gateway.kill();
    await Promise.all(callers.map(({ reading }) => reading));
    for (const { losses } of calls) losses.length = 0;
    await gateway.start();

    await Promise.all(callers.map(({ call }) => call.resumeUntilAnswered()));
    await until(() => calls.every(({ isOver }) => isOver), "every server has its answer");
    expect(calls.map(({ posts }) => posts)).toEqual(calls.map(() => 1));
    expect(calls.map(({ answers }) => answers.length)).toEqual(calls.map(() => 1));
    const ends = callers.map((caller) => ({ name: caller.name, end: lastOf(caller) }));
    if (kind === "resumable") {
      for (const { name, end } of ends) {
        const content = [{ type: "text", text: `yes, ${name}` }];
        expect(end).toMatchObject({ id: name, result: { content } });
      }
    } else {
      const message = expect.stringContaining("unknown") as unknown;
      for (const { name, end } of ends) expect(end).toMatchObject({ id: name, error: { message } });
    }
  },
);
