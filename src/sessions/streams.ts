/**
 * The streams of one session and their readers: which are read, which may still be resumed, and
 * which one carries a message that belongs to no request. Each message goes out on exactly one
 * of them (Streamable HTTP: broadcasting is a MUST NOT).
 */

import { formatEventId, parseEventId } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { JsonRpcMessage } from "../protocol/json-rpc.ts";
import type { QuestionStream } from "./asks.ts";
import { type Channel, StreamReader } from "./stream-reader.ts";
import { Renaming } from "./renaming.ts";

export interface StreamsOptions {
  readonly log: EventLog;
  readonly stallMs: number;
  /** The reader of a stream has gone, though the stream may go on. */
  readonly onDetach: (head: StreamMeta) => void;
}

export interface SendOptions {
  /** What takes the upstream up after this message. */
  readonly ticket?: string | undefined;
  readonly isFinal?: boolean;
  /** Answers are logged whatever the quota says. */
  readonly isAnswer?: boolean;
}

/** Where a reader begins. */
export interface StreamPosition {
  readonly head: StreamMeta;
  readonly after: number;
}

export interface ReadOptions {
  /** The reader was here before, and knows its place. */
  readonly isKnown?: boolean;
  /** Milliseconds after which the connection ends, for a client that comes back. */
  readonly holdMs?: number | undefined;
}

export type StreamLookup =
  | { readonly kind: "place"; readonly place: StreamPosition }
  /** No event of this session's has such an id. */
  | { readonly kind: "malformed" }
  /** The stream, or a part of what followed, is no longer kept. */
  | { readonly kind: "gone" };

export class Streams {
  readonly #log: EventLog;
  readonly #stallMs: number;
  readonly #onDetach: (head: StreamMeta) => void;
  readonly #feeds = new Map<StreamMeta, StreamReader>();

  constructor({ log, stallMs, onDetach }: StreamsOptions) {
    this.#log = log;
    this.#stallMs = stallMs;
    this.#onDetach = onDetach;
  }

  /** How many have a reader. */
  get readCount(): number {
    return this.#feeds.size;
  }

  openStandalone(): StreamPosition {
    return { head: this.#log.openStandalone(), after: 0 };
  }

  /** Finds the place of the event that a client saw last, in that stream and no other. */
  locate(lastEventId: string): StreamLookup {
    const position = parseEventId(lastEventId);
    if (position === undefined) return { kind: "malformed" };
    const found = this.#log.find(position);
    switch (found.kind) {
      case "found":
        this.#log.acknowledge(found.head, position.seq);
        return { kind: "place", place: { head: found.head, after: position.seq } };
      case "foreign":
        return { kind: "malformed" };
      case "gone":
        return { kind: "gone" };
      case "unknown":
        // Of a standalone stream nothing is logged before it has said something: nothing is owed.
        if (position.stream.kind === "post") return { kind: "gone" };
        return { kind: "place", place: this.openStandalone() };
    }
  }

  /**
   * Gives a stream a reader. A stream has one, the newest: an older one is closed, be it the one that
   * was there, or the one that comes, which was lost with the memory of an object and is back late.
   */
  attach(
    { head, after }: StreamPosition,
    channel: Channel,
    { isKnown = false, holdMs }: ReadOptions = {},
  ): StreamReader {
    const feed = new StreamReader({
      ...{ log: this.#log, head, channel, after, stallMs: this.#stallMs, holdMs },
      onClose: () => this.#detach(head, feed),
    });
    const other = this.#feeds.get(head);
    if (other !== undefined && other.openedAt > channel.openedAt) {
      feed.close();
      return feed;
    }
    this.#feeds.delete(head); // so that its going is not taken for the client's
    other?.close();
    head.isInUse = true;
    this.#feeds.set(head, feed);
    if (!isKnown) feed.prime();
    return feed;
  }

  feedOf(head: StreamMeta): StreamReader | undefined {
    return this.#feeds.get(head);
  }

  /** The id that the next event of a stream will have. */
  nextId({ id, last }: StreamMeta): string {
    return formatEventId(id, last + 1);
  }

  /**
   * Appends a message and sends it on, if somebody reads.
   *
   * @returns when the reader has room for more, or has gone; `false` when the stream's quota is
   *   used up, so that the message was not taken.
   */
  async send(
    head: StreamMeta,
    message: JsonRpcMessage,
    options: SendOptions = {},
  ): Promise<boolean> {
    if (head.isEnded) return true;
    const { ticket, isFinal = false, isAnswer = isFinal } = options;
    const data = JSON.stringify(message);
    const after = head.last;
    const seq = this.#log.append(head, data, { origin: ticket, isFinal, isForced: isAnswer });
    if (seq === undefined) return false;
    const feed = this.#feeds.get(head);
    feed?.pump({ after, seq, data });
    await feed?.caughtUp();
    return true;
  }

  /** Carries what belongs to no request; without a stream to carry it, it waits for one. */
  readonly unsolicited: QuestionStream = {
    nextId: () => {
      const head = this.standalone()?.head;
      // It is given another when it is moved to where it goes out: any id of its own will do.
      return head === undefined ? crypto.randomUUID() : this.nextId(head);
    },
    send: async (message, ticket) => {
      const head = this.standalone()?.head;
      if (head === undefined) {
        this.#log.appendToBacklog(JSON.stringify(message), { origin: ticket });
      } else await this.send(head, message, { ticket });
    },
  };

  /** Where what belongs to no request goes now: the newest such stream that has a reader. */
  standalone(): StreamReader | undefined {
    let newest: StreamReader | undefined;
    for (const feed of this.#feeds.values()) {
      if (feed.head.id.kind !== "standalone") continue;
      if (newest === undefined || feed.openedAt > newest.openedAt) newest = feed;
    }
    return newest;
  }

  /**
   * What waited for such a stream goes out on the newest.
   *
   * @param renamed called for each question with the id that it has from now on: its place.
   */
  carryBacklog(renamed: (from: string, to: string) => void): void {
    const feed = this.standalone();
    if (feed === undefined) return;
    const renaming = new Renaming(renamed);
    this.#log.moveBacklog(feed.head, (data, seq) =>
      renaming.placed(data, formatEventId(feed.head.id, seq)),
    );
    feed.pump();
  }

  /**
   * Notes where what belongs to no request can be taken up now, though nothing was said.
   *
   * @param isMore the ticket says more than the one that is known.
   */
  noteUnsolicited(ticket: string | undefined, isMore = false): void {
    let head = this.standalone()?.head;
    for (const other of head === undefined ? this.#log.heads() : []) {
      if (other.id.kind === "standalone") head = other;
    }
    if (head !== undefined && ticket !== undefined) this.#log.note(head, ticket, isMore);
  }

  /** The ticket of the last message that belonged to no request. */
  lastUnsolicited(): string | undefined {
    let newest: StreamMeta | undefined;
    for (const head of this.#log.heads()) {
      if (head.id.kind === "post" || head.origin === undefined) continue;
      if (newest === undefined || head.newestAt >= newest.newestAt) newest = head;
    }
    return newest?.origin;
  }

  /** Ends a stream; its reader is closed when it has everything. */
  end(head: StreamMeta): void {
    this.#log.end(head);
    this.#feeds.get(head)?.pump();
  }

  /** Closes every connection. */
  closeAll(): void {
    for (const feed of this.#feeds.values()) feed.close();
  }

  #detach(head: StreamMeta, feed: StreamReader): void {
    if (this.#feeds.get(head) !== feed) return;
    this.#feeds.delete(head);
    head.isInUse = false;
    // One that never said anything is opened anew as well as it is taken up.
    const isBlank = head.id.kind === "standalone" && head.last === 0 && head.origin === undefined;
    if (isBlank) this.#log.forget(head);
    this.#onDetach(head);
  }
}
