/**
 * Event ids: unique across a session. Each names its stream, so that `Last-Event-ID` alone finds the
 * stream (2025-11-25, resumability: SHOULD).
 */

/**
 * `standalone` streams carry the messages that belong to no request, `post` streams belong to one POST
 * each, and the `backlog` holds the messages that wait for a standalone stream: no client sees its ids.
 */
export type StreamKind = "standalone" | "post" | "backlog";

export interface StreamId {
  readonly kind: StreamKind;
  readonly number: number;
  /**
   * The session's mark and random digits: a number is used again once its stream is forgotten, and an
   * id of another session, or of another stream of that number, must find nothing.
   */
  readonly nonce: string;
}

export interface Position {
  readonly stream: StreamId;
  /** The event's place in its stream, from 1; 0 is the place before the first. */
  readonly seq: number;
}

const LETTERS = { standalone: "g", post: "p", backlog: "b" } as const;
const KINDS = { g: "standalone", p: "post" } as const;
const EVENT_ID = /^([gp])(\d{1,9})\.(\d{1,8})-([0-9a-f]{12})$/;

export function formatEventId({ kind, number, nonce }: StreamId, seq: number): string {
  return `${LETTERS[kind]}${number}.${seq}-${nonce}`;
}

/** @returns `undefined` for a text that is not an event id of any session. */
export function parseEventId(text: string): Position | undefined {
  const match = EVENT_ID.exec(text);
  if (match === null) return undefined;
  const [, letter = "", number = "", seq = "", nonce = ""] = match;
  const kind = KINDS[letter as keyof typeof KINDS];
  return { stream: { kind, number: Number(number), nonce }, seq: Number(seq) };
}

export function bearsMark({ nonce }: StreamId, mark: string): boolean {
  return nonce.startsWith(mark);
}
