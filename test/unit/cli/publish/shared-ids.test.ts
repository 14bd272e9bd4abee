/** Several channels at one process: what belongs to one of them reaches that one alone, as it was written. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type Destination, SharedIds } from "../../../../cli/publish/shared-ids.ts";
import { type Message, readMessage } from "../../../../cli/stdio/message.ts";

function message(text: string): Message {
  const read = readMessage(text);
  if (read === undefined) throw new Error(`no message: ${text}`);
  return read;
}

function request(id: string, method: string, params = "{}"): Message {
  return message(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
}

function notification(method: string, params: object): Message {
  return message(JSON.stringify({ jsonrpc: "2.0", method, params }));
}

interface Written {
  readonly id: number;
  readonly params: {
    readonly requestId: number;
    readonly _meta: { readonly progressToken: number };
  };
}

function written(text: string | undefined): Written {
  return JSON.parse(text ?? "null") as Written;
}

function to(channel: string, text: string): Destination {
  return { kind: "one", channel, text };
}

describe("requests of several channels", () => {
  test("have ids of their own at the server, and their answers go back as they were asked", ({
    expect,
  }) => {
    // Few ids, so that channels often have the same.
    const ids = fc.constantFrom("1", "2", '"1"', "12345678901234567890", "1.5e300");
    const asks = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), ids), {
      selector: ([channel, id]) => channel + id,
      maxLength: 15,
    });
    fc.assert(
      fc.property(asks, fc.infiniteStream(fc.nat()), (asked, order) => {
        const shared = new SharedIds();
        const sent = asked.map(([channel, id]) => {
          const { id: own } = written(shared.toServer(channel, request(id, "tools/call")));
          return { channel, id, own };
        });
        expect(new Set(sent.map(({ own }) => own)).size).toBe(sent.length);
        const keys = new Map(sent.map((one) => [one, order.next().value ?? 0]));
        const shuffled = sent.toSorted((one, two) => (keys.get(one) ?? 0) - (keys.get(two) ?? 0));
        for (const { channel, id, own } of shuffled) {
          const answer = message(`{"jsonrpc":"2.0","id":${own},"result":{"big":1e400,"id":7}}`);
          const text = `{"jsonrpc":"2.0","id":${id},"result":{"big":1e400,"id":7}}`;
          expect(shared.fromServer(answer)).toMatchObject(to(channel, text));
          // One answer, and no more.
          expect(shared.fromServer(answer)).toEqual({ kind: "none" });
        }
      }),
    );
  });

  test("report progress to their own channel, after the answer too", ({ expect }) => {
    const shared = new SharedIds();
    const ask = (channel: string): Written =>
      written(
        shared.toServer(channel, request("1", "tools/call", '{"_meta":{"progressToken":1.0}}')),
      );
    const [one, two] = [ask("a"), ask("b")];
    const progress = (token: unknown): Destination =>
      shared.fromServer(
        notification("notifications/progress", { progressToken: token, progress: 1 }),
      );
    const text =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.0,"progress":1}}';
    expect(progress(two.params._meta.progressToken)).toEqual(to("b", text));
    shared.fromServer(message(`{"jsonrpc":"2.0","id":${one.id},"result":{}}`));
    expect(progress(one.params._meta.progressToken)).toEqual(to("a", text));
    expect(progress(999)).toEqual({ kind: "none" });
    shared.forget("a");
    expect(progress(one.params._meta.progressToken)).toEqual({ kind: "none" });
  });

  test("are cancelled by their own channel alone, and when that goes", ({ expect }) => {
    const shared = new SharedIds();
    const ids = ["a", "b", "b"].map((channel, index) =>
      written(shared.toServer(channel, request(String(index), "tools/call"))),
    );
    const cancel = (channel: string, requestId: number): string | undefined =>
      shared.toServer(channel, notification("notifications/cancelled", { requestId }));
    expect(cancel("b", 0)).toBeUndefined();
    expect(written(cancel("a", 0)).params.requestId).toBe(ids[0]?.id);
    expect(cancel("a", 0)).toBeUndefined();
    const gone = shared.forget("b").map((text) => written(text).params.requestId);
    expect(gone).toEqual([ids[1]?.id, ids[2]?.id]);
  });
});

describe("what a server says by itself", () => {
  test("as a question goes to the one channel that has calls, and only that answers", ({
    expect,
  }) => {
    const shared = new SharedIds();
    const question = request('"q"', "elicitation/create");
    const unclear = { kind: "unclear", id: '"q"' };
    expect(shared.fromServer(question)).toEqual(unclear);
    shared.toServer("a", request("1", "tools/call"));
    shared.toServer("b", request("1", "subscriptions/listen"));
    expect(shared.fromServer(question)).toEqual(to("a", question.text));
    const answer = message('{"jsonrpc":"2.0","id":"q","result":{}}');
    expect(shared.toServer("b", answer)).toBeUndefined();
    const cancelled = notification("notifications/cancelled", { requestId: "q" });
    expect(shared.fromServer(cancelled)).toEqual(to("a", cancelled.text));
    expect(shared.toServer("a", answer)).toBe(answer.text);
    expect(shared.toServer("a", answer)).toBeUndefined();
    shared.toServer("b", request("2", "tools/call"));
    expect(shared.fromServer(question)).toEqual(unclear);
  });

  test("as a notification goes to all, but that of a listen stream to its own", ({ expect }) => {
    const shared = new SharedIds();
    const changed = notification("notifications/tools/list_changed", {});
    expect(shared.fromServer(changed)).toEqual({ kind: "all", text: changed.text });
    const { id } = written(shared.toServer("a", request('"mine"', "subscriptions/listen")));
    const key = "io.modelcontextprotocol/subscriptionId";
    const of = (value: unknown): Message =>
      notification("notifications/tools/list_changed", { _meta: { [key]: value } });
    expect(shared.fromServer(of(id))).toEqual(to("a", of("mine").text));
    shared.forget("a");
    expect(shared.fromServer(of(id))).toEqual({ kind: "none" });
  });
});
