/** What is known of a stream without reading its events. */

import type { StreamId } from "./event-id.ts";
import { type RowEnd, RowState } from "./event-rows.ts";

export interface StreamMeta {
  readonly id: StreamId;
  /** Everything up to here is no longer kept: replay begins after it. */
  first: number;
  /** The newest row of the stream; 0 before any. */
  last: number;
  /** The newest row when the log's holder came to life; 0 for a stream that is younger. */
  readonly inherited: number;
  /** Characters ever appended, and those of them that are no longer kept. */
  chars: number;
  trimmedChars: number;
  /** Nothing more will come. */
  isEnded: boolean;
  /** A resume has shown that the client has the last event. */
  isAcknowledged: boolean;
  /** A client reads it right now: it is not dropped under its hands. */
  isInUse: boolean;
  /** When the oldest and the newest kept row were written, in milliseconds since 1970. */
  oldestAt: number;
  newestAt: number;
  /** Where the upstream can be taken up again after the newest event; opaque here. */
  origin: string | undefined;
}

export function keptRows({ first, last }: StreamMeta): number {
  return last - first;
}

export function keptChars({ chars, trimmedChars }: StreamMeta): number {
  return chars - trimmedChars;
}

/** A stream of which nothing is kept, up to the place that it has come to. */
export function emptyStreamMeta(id: StreamId, last: number, at: number): StreamMeta {
  return {
    ...{ id, first: last, last, inherited: 0, chars: 0, trimmedChars: 0, origin: undefined },
    ...{ isEnded: false, isAcknowledged: false, isInUse: false, oldestAt: at, newestAt: at },
  };
}

/** What a stream's first and last row tell of it. */
export function streamMetaOf(first: RowEnd, last: RowEnd): StreamMeta {
  const { kind, number, nonce } = last;
  const isPlaceholder = (first.state & RowState.Expired) !== 0;
  return {
    ...emptyStreamMeta({ kind, number, nonce }, last.seq, last.at),
    first: isPlaceholder ? first.seq : first.seq - 1,
    inherited: last.seq,
    chars: last.chars,
    trimmedChars: isPlaceholder ? first.chars : first.chars - first.size,
    isEnded: (last.state & RowState.Final) !== 0,
    oldestAt: first.at,
    origin: last.origin,
  };
}
