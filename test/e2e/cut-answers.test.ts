/**
 * An answer is cut after each of its bytes, in each way in which a connection is lost, and its client
 * is back at once: before the gateway has noticed that it was gone. It gets what a client gets whose
 * connection holds: everything, once, in order.
 *
 * Nothing stands before the gateway: a proxy would notice, and report it, late.
 */

import { afterAll, beforeAll, test } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { type Cut, WAYS_TO_CUT } from "../support/cut-answer.ts";
import { inParallel } from "../support/in-parallel.ts";
import { openRawSession, type RawSession } from "../support/raw-session.ts";
import { ResumableCall } from "../support/resumable-call.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";

/** Sessions at the same time: with more of them a client would not be back at once. */
const LANES = 3;
/** The streams of a session have numbers of one digit then, so that all answers are equally long. */
const CALLS_PER_SESSION = 9;
/** Of a second each, on a connection whose answer takes milliseconds. */
const MAX_KEEP_ALIVES = 10;
/** Enough of them to see what they have in common. */
const MAX_FINDINGS = 10;
const SCRIPT = { events: 2, intervalMs: 2, bytes: 1 };

let upstream: StreamingUpstream;
let gateway: Server;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
  gateway = await startGateway({
    servers: { one: { url: upstream.url } },
    limits: { keepAliveSeconds: 1, requestsPerMinute: 1_000_000 },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

test.for(WAYS_TO_CUT)(
  "a response that is cut after any of its bytes, by %s, still arrives whole",
  async (way, { expect }) => {
    const never = await callAndCut(await openSession(), { way, afterBytes: Infinity });
    expect(never.messages).toHaveLength(SCRIPT.events + 1);

    const findings: Had[] = [];
    let resumed = 0;
    const sessions = Math.ceil(never.bytes / CALLS_PER_SESSION);
    await inParallel(sessions, LANES, async (index) => {
      const session = await openSession();
      for (let call = 0; call < CALLS_PER_SESSION; call++) {
        if (findings.length >= MAX_FINDINGS) return;
        const had = await callAndCut(session, {
          way,
          afterBytes: index * CALLS_PER_SESSION + call,
        });
        // Without an event id the client could not come back: it has lost the call, and that is all.
        if (!had.wasResumable) continue;
        resumed += 1;
        const isWhole = JSON.stringify(had.messages) === messagesFor(had.name, never);
        if (!isWhole || had.failure !== undefined) findings.push(had);
      }
    });
    expect(findings).toEqual([]);
    expect(resumed).toBeGreaterThan(never.bytes / 2);
  },
);

interface Had {
  readonly name: string;
  /** Of the answer, before the cut. */
  readonly bytes: number;
  readonly wasResumable: boolean;
  readonly messages: readonly Json[];
  readonly failure?: string;
}

function openSession(): Promise<RawSession> {
  return openRawSession(`${gateway.url}/mcp/one`);
}

/** What another client had, as it had been said to the client of this call. */
function messagesFor(name: string, { name: other, messages }: Had): string {
  return JSON.stringify(messages).replaceAll(other, name);
}

/** Calls, loses the connection, and comes back at once for the rest. */
async function callAndCut(session: RawSession, cut: Cut): Promise<Had> {
  const name = `${cut.way} ${String(cut.afterBytes).padStart(8, "0")}`;
  const params = {
    ...{ name: "stream", arguments: { call: name, ...SCRIPT } },
    _meta: { progressToken: name },
  };
  const call = new ResumableCall(
    session,
    { jsonrpc: "2.0", id: name, method: "tools/call", params },
    { maxKeepAlives: MAX_KEEP_ALIVES },
  );
  const answer = await call.postAndCut(cut);
  const { isResumable: wasResumable, taken: messages } = call;
  const had = { name, bytes: Buffer.byteLength(answer.text), wasResumable, messages };
  try {
    if (wasResumable) await call.resumeUntilAnswered();
    return had;
  } catch (error) {
    return { ...had, failure: String(error) };
  } finally {
    answer.close();
  }
}
