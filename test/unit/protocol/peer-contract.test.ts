/** The contract of `Peer`, for peers that answer themselves and for those that forward to another one. */

import { describe, test } from "vitest";

import { withoutTaskNotices } from "../../../src/dispatch/modern/client-task.ts";
import { noticePeer } from "../../../src/notifications/source/watch-port.ts";
import {
  type Call,
  forwardingTo,
  nullPeer,
  type Peer,
  withoutResumeTokens,
} from "../../../src/protocol/exchange.ts";
import { clientPeer } from "../../../src/relay/client-peer.ts";
import { viewOf } from "../relay/session-server-fixture.ts";
import { AskedPeer } from "./revisions/asked-peer.ts";

const LOG: Call = { method: "notifications/message", params: { level: "info", data: "d" } };
const QUESTION: Call = {
  method: "elicitation/create",
  params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};
const never = new AbortController().signal;

const ENDS: readonly (readonly [name: string, make: () => Peer])[] = [
  ["nullPeer", () => nullPeer("Nobody is there")],
  ["noticePeer", () => noticePeer(() => undefined)],
];

const DECORATORS: readonly (readonly [name: string, before: (base: Peer) => Peer])[] = [
  ["forwardingTo", forwardingTo],
  ["withoutResumeTokens", withoutResumeTokens],
  ["clientPeer", (base) => clientPeer(base, viewOf("2025-11-25"))],
  ["withoutTaskNotices", withoutTaskNotices],
];

describe.for([
  ...ENDS,
  ...DECORATORS.map(([name, before]) => [name, () => before(new AskedPeer())] as const),
])("%s", ([, make]) => {
  test("accepts a notification with a resume token and without one", async ({ expect }) => {
    const peer = make();
    expect(await peer.notify(LOG)).toBeUndefined();
    expect(await peer.notify(LOG, "token")).toBeUndefined();
  });

  test("answers a withdrawn question with an error, and does not reject", async ({ expect }) => {
    const withdrawal = new AbortController();
    const asked = make().ask(QUESTION, withdrawal.signal, "token");
    withdrawal.abort(new Error("withdrawn"));
    expect(await asked).toHaveProperty("error");
  });
});

describe.for(DECORATORS)("%s", ([, before]) => {
  test("has no more room than the peer behind it", async ({ expect }) => {
    const room = Promise.withResolvers<void>();
    const base = new AskedPeer();
    const peer = before({
      ask: (question, withdrawn) => base.ask(question, withdrawn),
      notify: () => room.promise,
    });
    const order: string[] = [];
    const notified = peer.notify(LOG).then(() => order.push("notified"));
    await Promise.resolve().then(() => order.push("room"));
    room.resolve();
    await notified;
    expect(order).toEqual(["room", "notified"]);
  });

  test("passes a question's answer back unchanged", async ({ expect }) => {
    const reply = { result: { action: "accept", content: { ok: true } } } as const;
    const base = new AskedPeer(({ answer }) => answer(reply));
    expect(await before(base).ask(QUESTION, never)).toEqual(reply);
  });

  test("passes the delivery of the answer on, or drops it with the resume token", async ({
    expect,
  }) => {
    const seen: unknown[][] = [];
    const delivered = Promise.resolve();
    const peer = before({
      notify: () => Promise.resolve(),
      ask: (_question, _withdrawn, ...rest) => {
        seen.push(rest.map((each) => each === delivered || typeof each === "string"));
        return Promise.resolve({ result: {} });
      },
    });
    await peer.ask(QUESTION, never, "token", delivered);
    expect([[[true, true]], [[]]]).toContainEqual(seen);
  });
});
