/** The facts about a stream that are known without reading its events. */

import type { StreamId } from "./event-id.ts";
import { type RowEnd, RowState } from "./event-rows.ts";

export interface StreamMeta {
  readonly id: StreamId;
  /** Events up to this place are no longer kept: replay begins after it. */
  first: number;
  /** The newest row of the stream; 0 before any. */
  last: number;
  /** The newest row when the session's object came to life; 0 for a younger stream. */
  readonly inherited: number;
  /** Characters ever appended, and those of them that are no longer kept. */
  chars: number;
  trimmedChars: number;
  /** No more events will follow. */
  isEnded: boolean;
  /** A resume has shown that the client has the last event. */
  isAcknowledged: boolean;
  /** The stream has a reader now, so it is not dropped. */
  isInUse: boolean;
  /** When the oldest and the newest kept row were written, in milliseconds since 1970. */
  oldestAt: number;
  newestAt: number;
  /** The resume token that continues the server's stream after the newest event; opaque here. */
  resumeToken: string | undefined;
}

export function keptRows({ first, last }: StreamMeta): number {
  return last - first;
}

export function keptChars({ chars, trimmedChars }: StreamMeta): number {
  return chars - trimmedChars;
}

/** The metadata of a stream that keeps no events up to its last place. */
export function emptyStreamMeta(id: StreamId, last: number, at: number): StreamMeta {
  return {
    id,
    first: last,
    last,
    inherited: 0,
    chars: 0,
    trimmedChars: 0,
    resumeToken: undefined,
    isEnded: false,
    isAcknowledged: false,
    isInUse: false,
    oldestAt: at,
    newestAt: at,
  };
}

/** Makes a stream's metadata from its first and last row. */
export function streamMetaOf(first: RowEnd, last: RowEnd): StreamMeta {
  const { kind, number, nonce } = last;
  const isPlaceholder = (first.state & RowState.Expired) !== 0;
  return {
    ...emptyStreamMeta({ kind, number, nonce }, last.seq, last.at),
    first: isPlaceholder ? first.seq : first.seq - first.events,
    inherited: last.seq,
    chars: last.chars,
    trimmedChars: isPlaceholder ? first.chars : first.chars - first.size,
    isEnded: (last.state & RowState.Final) !== 0,
    oldestAt: first.at,
    resumeToken: last.resumeToken,
  };
}
