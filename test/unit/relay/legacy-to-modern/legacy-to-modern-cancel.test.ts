/** A legacy client cancels while its call is at a modern server: at whatever moment, it is over. */

import { afterEach, describe, test, vi } from "vitest";

import type { ToolFacts } from "../../../../src/catalog/cache/tool-facts.ts";
import { until } from "../../../support/until.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { failureOf } from "../../upstream/fake-target.ts";
import {
  ACCEPTED,
  asking,
  behind,
  CALL,
  completing,
  ELICIT,
  hanging,
  requiring,
} from "./legacy-to-modern-fixture.ts";

const WHY = new Error("The client cancelled the request");

afterEach(() => void vi.useRealTimers());

describe("a cancelled call rejects with the reason", () => {
  test("before anything was sent, and nothing is", async ({ expect }) => {
    const { server, sent } = behind([completing()]);
    const reply = server.request(CALL, new AskedPeer(), AbortSignal.abort(WHY));
    expect(await failureOf(reply)).toBe(WHY);
    expect(sent).toEqual([]);
  });

  test("while the tool is looked up, and nothing is sent", async ({ expect }) => {
    const cancel = new AbortController();
    const looked = Promise.withResolvers<ToolFacts | undefined>();
    const { server, sent } = behind([completing()], { toolFacts: () => looked.promise });
    const reply = failureOf(server.request(CALL, new AskedPeer(), cancel.signal));
    cancel.abort(WHY);
    looked.resolve(undefined);
    expect(await reply).toBe(WHY);
    expect(sent).toEqual([]);
  });

  test("while the server works, which sees its client go", async ({ expect }) => {
    const cancel = new AbortController();
    let isLeft = false;
    const answer = hanging(() => {
      isLeft = true;
    });
    const { server, sent } = behind([answer]);
    const reply = failureOf(server.request(CALL, new AskedPeer(), cancel.signal));
    await until(() => sent.length === 1, "the request at the server");
    cancel.abort(WHY);
    expect(await reply).toBe(WHY);
    expect(isLeft).toBe(true);
  });

  test("while the client is asked: the questions are withdrawn", async ({ expect }) => {
    const cancel = new AbortController();
    const { server, sent } = behind([asking({ a: ELICIT, b: ELICIT })]);
    const peer = new AskedPeer();
    const reply = failureOf(server.request(CALL, peer, cancel.signal));
    await until(() => peer.questions.length === 2, "two questions");
    peer.questions[0]?.answer({ result: ACCEPTED });
    cancel.abort(WHY);
    expect(await reply).toBe(WHY);
    expect(peer.questions.map(({ withdrawn }) => withdrawn.aborted)).toEqual([true, true]);
    expect(sent).toHaveLength(1);
  });

  test("in the moment of the last answer", async ({ expect }) => {
    const cancel = new AbortController();
    const { server, sent } = behind([asking({ a: ELICIT }), completing()]);
    const peer = new AskedPeer(({ answer }) => {
      answer({ result: ACCEPTED });
      cancel.abort(WHY);
    });
    expect(await failureOf(server.request(CALL, peer, cancel.signal))).toBe(WHY);
    expect(sent).toHaveLength(1);
  });

  test("between rounds, while the server is given time", async ({ expect }) => {
    vi.useFakeTimers();
    const cancel = new AbortController();
    const { server, sent } = behind([requiring({ requestState: "s" })]);
    const reply = failureOf(server.request(CALL, new AskedPeer(), cancel.signal));
    await expect.poll(() => sent.length).toBe(2);
    // It has paused once, and does so again.
    await vi.advanceTimersByTimeAsync(1);
    cancel.abort(WHY);
    // The clock stands still: it does not wait for the end of its pause.
    expect(await reply).toBe(WHY);
    expect(sent).toHaveLength(2);
  });

  test("in a later round, which the server sees its client leave", async ({ expect }) => {
    const cancel = new AbortController();
    let left = 0;
    const answer = hanging(() => {
      left += 1;
    });
    const { server, sent } = behind([asking({ a: ELICIT }, "s"), answer]);
    const peer = new AskedPeer((question) => question.answer({ result: ACCEPTED }));
    const reply = failureOf(server.request(CALL, peer, cancel.signal));
    await until(() => sent.length === 2, "the second round");
    cancel.abort(WHY);
    expect(await reply).toBe(WHY);
    expect(left).toBe(1);
  });

  test("when the answer is there already", async ({ expect }) => {
    const cancel = new AbortController();
    const { server } = behind([
      (seen) => {
        cancel.abort(WHY);
        return completing()(seen);
      },
    ]);
    expect(await failureOf(server.request(CALL, new AskedPeer(), cancel.signal))).toBe(WHY);
  });
});
