/**
 * Event ids: unique across a session, and telling their stream, so that `Last-Event-ID` alone
 * finds it (2025-11-25, resumability: SHOULD).
 */

/** `standalone` streams carry what belongs to no request; the others belong to one POST each. */
export type StreamKind = "standalone" | "post";

export interface StreamId {
  readonly kind: StreamKind;
  /** Made once for each life of the session's holder: numbers start anew after an eviction. */
  readonly life: string;
  readonly number: number;
}

const LETTERS = { standalone: "g", post: "p" } as const;
const EVENT_ID = /^([gp])([0-9a-f]{8})-(\d{1,9})\.(\d{1,15})$/;

export function formatEventId({ kind, life, number }: StreamId, seq: number): string {
  return `${LETTERS[kind]}${life}-${number}.${seq}`;
}

/** @returns `undefined` for a text that this gateway never minted. */
export function parseEventId(text: string): { stream: StreamId; seq: number } | undefined {
  const match = EVENT_ID.exec(text);
  if (match === null) return undefined;
  const [, letter = "", life = "", number = "", seq = ""] = match;
  const kind: StreamKind = letter === LETTERS.standalone ? "standalone" : "post";
  return { stream: { kind, life, number: Number(number) }, seq: Number(seq) };
}

/** The key of a stream within its session. */
export function streamKey({ kind, life, number }: StreamId): string {
  return `${LETTERS[kind]}${life}-${number}`;
}
