/** Those that a branch of the fan-out has to do with: sessions, feeds and sockets of a test's. */

import type { DeliveryAnswer } from "../../../../src/notifications/fan-out/deliveries.ts";
import type {
  ListenerSocket,
  SavedListener,
} from "../../../../src/notifications/fan-out/listeners.ts";
import type { Interests, News, Topic, TopicChange } from "../../../../src/catalog/feeds.ts";

/** What becomes of calls: `lost` and `deaf` fail, before and after they were carried out. */
export type Mode = "ok" | "lost" | "deaf" | "hangs" | "gone" | "offline";

export class FakeSession {
  mode: Mode = "ok";
  readonly seqs = new Map<string, number>();
  /** What it took, without what it had had. */
  readonly taken: News[] = [];
  calls = 0;

  take(news: News): DeliveryAnswer {
    this.calls += 1;
    if (this.mode === "gone" || this.mode === "offline") return this.mode;
    if (news.seq <= (this.seqs.get(news.slug) ?? -Infinity)) return "taken";
    this.seqs.set(news.slug, news.seq);
    this.taken.push(news);
    return "taken";
  }
}

/** A list that servers do not tell of. */
export const UNTOLD: Topic = "resources";

export class FakeFeed {
  mode: Mode = "ok";
  /** What it was told to listen for. */
  readonly watched = new Set<Topic>();
  readonly changes: TopicChange[] = [];
  /** Resources that its server refuses. */
  readonly refused = new Set<Topic>(["uri:unknown"]);

  watch(change: TopicChange): readonly Topic[] {
    this.changes.push(change);
    for (const topic of change.remove) this.watched.delete(topic);
    const known = change.add.filter((topic) => !this.refused.has(topic));
    for (const topic of known) this.watched.add(topic);
    return known.filter((topic) => topic !== UNTOLD);
  }
}

export class FakeSocket implements ListenerSocket {
  readonly lines: string[] = [];
  saved: SavedListener | undefined;
  isBroken = false;
  /** The code that the branch closed it with. */
  closed: number | undefined;
  /** Characters that were read, and not acknowledged. */
  unread = 0;

  send(text: string): void {
    if (this.isBroken || this.closed !== undefined) throw new TypeError("The socket is closed");
    this.lines.push(text);
    this.unread += text.length;
  }

  close(code: number): void {
    if (this.closed !== undefined) throw new TypeError("The socket is closed");
    this.closed = code;
  }

  serializeAttachment(value: unknown): void {
    this.saved = structuredClone(value) as SavedListener;
  }

  get honoured(): Interests | undefined {
    const [first] = this.lines;
    return first === undefined
      ? undefined
      : (JSON.parse(first) as { honoured: Interests }).honoured;
  }

  get news(): readonly News[] {
    return this.lines.slice(1).map((line) => JSON.parse(line) as News);
  }
}
