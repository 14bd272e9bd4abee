/** What needs somebody: the kinds of it, in the order in which they are listed. */

/** The lower the rank, the earlier an item stands. Each kind has its own, with room between. */
export const RANKS = {
  /** An account does not work any more, and only a person can connect it again. */
  "sign-in": 10,
  secret: 20,
  configuration: 30,
  unreachable: 40,
  login: 45,
  conflict: 50,
  /** A published server whose publisher is not there. */
  offline: 70,
  unused: 80,
} as const;

export type AttentionKind = keyof typeof RANKS;

/** The kinds of which an object has to be asked that may not answer. */
export type AskedKind = Extract<AttentionKind, "sign-in" | "offline">;

export interface AttentionItem {
  readonly kind: AttentionKind;
  /** The server or application, by the name that people know. */
  readonly subject: string;
  /** Sentences of our own. */
  readonly what: string;
  /** Milliseconds since 1970; `undefined` for what the configuration in force says. */
  readonly since: number | undefined;
  /** A path of the gateway: the one place where it is mended, or where it says how. */
  readonly link: string;
  /** The words of the link. */
  readonly remedy: string;
}

/** @returns the items by rank; what lasts longest comes first in each. */
export function ranked(items: readonly AttentionItem[]): readonly AttentionItem[] {
  return items.toSorted((a, b) => RANKS[a.kind] - RANKS[b.kind] || (a.since ?? 0) - (b.since ?? 0));
}
