/**
 * The port to what keeps the credentials of one server: asked when a request is sent, not when it is
 * queued. Implemented by the vault of the person who calls (`src/accounts`).
 */

import type { BearerChallenge } from "../protocol/bearer-challenge.ts";

export interface Credentials {
  /** The name of the vault. */
  readonly owner: string;
  /**
   * The account whose lists, sessions and watches the caller has, whether or not it can be used now. It is
   * read from what is stored: no server is asked, so that lists never wait for a vendor.
   *
   * @returns `undefined` while no account is connected.
   */
  account(): Promise<string | undefined>;
  current(): Promise<Credential>;
  /** The vault has announced that its accounts have changed: what is kept of it may be wrong. */
  changed(): void;
  /** A list was given out without asking the vault: it tells whoever listens that the list may be another one. */
  announce(): Promise<void>;
  /**
   * Waits for a person who is connecting an account.
   *
   * @returns once an account can be used, or after `waitMs`.
   */
  connected(waitMs: number): Promise<void>;
  /**
   * The server has answered 401 to this credential, so that the request did not run.
   *
   * @returns a newer credential, with which the request may be sent once more, or what is needed.
   */
  refused(
    credential: UsableCredential,
    challenge: BearerChallenge | undefined,
  ): Promise<Credential>;
  /**
   * The server has answered 403 with `insufficient_scope` (RFC 6750 section 3.1), so that the request did not run.
   *
   * @returns what is needed; a newer credential where the account has been connected again since.
   */
  lacking(credential: UsableCredential, challenge: BearerChallenge): Promise<Credential>;
}

/** Plain data. */
export type Credential = UsableCredential | AccountNeed;

export interface UsableCredential {
  readonly kind: "use";
  /** The account at the server. Sessions, lists and watches of one account are of no use to another. */
  readonly accountId: string;
  /** Grows with each refresh. */
  readonly generation: number;
  /** The address of the server that the account is for. Absent from a vault of an earlier version. */
  readonly endpoint?: string;
  readonly header: string;
  /** Secret: it goes into the request to the server, and nowhere else. */
  readonly value: string;
}

/** An account that its owner has ended, or replaced. Plain data. */
export interface EndedAccount {
  readonly slug: string;
  readonly accountId: string;
  /** With it, the sessions of the account can still be ended at the server. */
  readonly credential?: UsableCredential;
}

/** What has to happen before the server can be used. */
export interface AccountNeed {
  readonly kind: "need";
  readonly need:
    /** The person has to connect an account, or to connect it again. */
    | "connect"
    /** The account has to allow more. */
    | "scope"
    /** Only the operator can help. */
    | "operator"
    /** The authorization server is not available; `until` says when it is tried again. */
    | "later"
    /** The account is connected, and the server refuses it for good: a new login would not help. */
    | "forbidden";
  /** A code of our own, for the log and for pages. */
  readonly reason: string;
  /** The account that was refused, if there is one: its lists are still shown. */
  readonly accountId?: string;
  /** The handle of the link that repairs it: `/connect/<slug>?e=<ask>`. */
  readonly ask?: string;
  /** Milliseconds since 1970. */
  readonly until?: number;
  /** The account is that of everybody, which an administrator can connect. */
  readonly isShared?: true;
}
