/** A session whose object loses its memory: what the next life makes of what was written. */

import { test } from "vitest";

import type { Sql } from "../../../src/lib/sql.ts";
import { defaultLimits } from "../../../src/policy/limits.ts";
import type { Call, Peer } from "../../../src/protocol/exchange.ts";
import type { Parsed } from "../../../src/protocol/json-rpc.ts";
import type { Dispatch, Unsolicited } from "../../../src/sessions/dispatch.ts";
import { EventLog } from "../../../src/sessions/log/event-log.ts";
import type { Post } from "../../../src/sessions/receive.ts";
import { Session } from "../../../src/sessions/session.ts";
import { SessionLife } from "../../../src/sessions/state.ts";
import type { Channel } from "../../../src/sessions/stream-reader.ts";
import type { StreamPosition } from "../../../src/sessions/streams.ts";
import { withSql } from "../lib/sql-fixture.ts";

const CLIENT = { revision: "2025-03-26", capabilities: {}, clientInfo: { name: "c" } } as const;
const POST = {
  ...{ isBatch: false, arrival: {} },
  openChannel: () => ({ body: new ReadableStream(), reader: "reader", openedAt: 1 }),
} as unknown as Post;
const { signal: never } = new AbortController();
const nothing = (): void => undefined;

class Life {
  readonly session: Session;
  readonly log: EventLog;
  /** The frames that the client was sent on its standalone stream. */
  readonly frames: string[] = [];
  /** The resume tokens with which answers of an earlier life went to the server. */
  readonly delivered: string[] = [];
  server: Unsolicited | undefined;
  /** Waits for the last request. */
  caller: Peer | undefined;

  constructor(sql: Sql) {
    const limits = defaultLimits();
    this.log = new EventLog({ sql, limits, mark: "abcdef", random: () => "123456", now: Date.now });
    const dispatch = {
      listen: () => Promise.resolve(),
      request: (_call: Call, peer: Peer, signal: AbortSignal) => {
        this.caller = peer;
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      },
      close: () => Promise.resolve(),
      answer: (resumeToken: string) => {
        this.delivered.push(resumeToken);
        return Promise.resolve(true);
      },
    } as unknown as Dispatch;
    this.session = new Session({
      life: new SessionLife({ deletedUntil: undefined, known: { client: CLIENT } }),
      ...{ transport: "streamable-http", client: CLIENT, log: this.log, limits },
      connect: (_client, unsolicited) => {
        this.server = unsolicited;
        return dispatch;
      },
      introduce: () => Promise.reject(new Error("not of this test")),
      synced: () => Promise.resolve(),
      ...{ onInitialized: nothing, onBusy: nothing, onListen: nothing, onDetach: nothing },
    });
  }

  listen(): void {
    const channel: Channel = {
      ...{ openedAt: 1, hasRoom: true },
      send: (frame) => void this.frames.push(frame),
      sentUpTo: () => undefined,
      close: () => undefined,
    };
    this.session.attach(this.session.placeFor(undefined) as StreamPosition, channel, false);
  }

  ask(message: string, resumeToken?: string): void {
    void this.server?.ask(
      { method: "elicitation/create", params: { message } },
      never,
      resumeToken,
    );
  }

  /** The id of the question that the client received last. */
  asked(): string {
    return /"id":"([^"]+)"/.exec(this.frames.at(-1) ?? "")?.[1] ?? "";
  }

  async answer(id: string): Promise<void> {
    const message = { jsonrpc: "2.0", id, result: { action: "accept" } } as const;
    await this.session.receive([{ kind: "response", message } satisfies Parsed], POST);
  }

  end(): void {
    void this.session.close();
  }
}

test.for(["before", "after"])(
  "the answer to a question without a resume token is not delivered as that to another: asked %s the client listens",
  (when, { expect }) =>
    withSql(async ({ sql }) => {
      const life = new Life(sql);
      if (when === "after") life.listen();
      life.ask("first", "token");
      life.ask("second");
      if (when === "before") life.listen();
      const second = life.asked();
      const next = new Life(sql);
      await next.answer(second);
      expect(next.delivered).toEqual([]);
      life.end();
      next.end();
    }),
);

test("a notice that is still on its way when its call is cancelled opens no stream", ({ expect }) =>
  withSql(async ({ sql }) => {
    const life = new Life(sql);
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call" } as const;
    const outcome = life.session.receive([{ kind: "request", message: request }], POST);
    await Promise.resolve();
    const method = "notifications/cancelled";
    const cancelled = { jsonrpc: "2.0", method, params: { requestId: 1 } } as const;
    await life.session.receive([{ kind: "notification", message: cancelled }], POST);
    expect(await outcome).toEqual({ kind: "cancelled" });
    await life.caller?.notify({ method: "notifications/tools/list_changed" }, "token");
    life.caller?.primed?.("token");
    expect([...life.log.streams()]).toEqual([]);
    life.end();
  }));
