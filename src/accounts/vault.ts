/**
 * The port to a vault: it keeps the accounts of one owner at the servers that demand one, and is the only
 * place where a refresh token is known. A vault is a Durable Object; all values are plain data.
 */

import type { Credential } from "../upstream/credentials.ts";
import type { BearerChallenge } from "../protocol/bearer-challenge.ts";
import type { RegistrationWay } from "./settings.ts";

/** A person's vault holds their own accounts; the shared one, what an operator connected for all. */
export type VaultOwner =
  | { readonly kind: "person"; readonly person: string }
  | { readonly kind: "shared" };

export interface Vaults {
  /** @returns the vault, for one call. */
  of(owner: VaultOwner): Vault;
  /** `Vault.sealAnew` of what the gateway is registered as at an issuer. @returns how many it were. */
  sealRegistrations(issuer: string): Promise<number>;
}

export interface Vault {
  /** @returns the account of the server, whether or not it can be used now; no server is asked. */
  account(slug: string): Promise<string | undefined>;
  /** What the server is to be sent; refreshed first if it is about to end. */
  credential(request: CredentialRequest): Promise<Credential>;
  /** The server demands more than the account allows (403, `insufficient_scope`). */
  lacking(request: LackingRequest): Promise<Credential>;
  /** @returns once an account of the server can be used, or after `waitMs`. */
  connected(slug: string, waitMs: number): Promise<boolean>;
  /** Tells whoever listens that the lists of the servers may be others than they were given. */
  announce(): Promise<void>;

  accounts(): Promise<readonly AccountSummary[]>;
  /** Reads what the server and its authorization server say. Stores nothing but caches. */
  offer(slug: string, ask: string | undefined): Promise<ConnectOffer>;
  /** Begins an attempt to connect an account in the browser. */
  begin(request: BeginRequest): Promise<BeginOutcome>;
  /** The browser is back from the authorization server. */
  finish(request: FinishRequest): Promise<FinishOutcome>;
  /** Tries an API key with one request to the server, and keeps it. */
  enterKey(slug: string, key: string): Promise<FinishOutcome>;
  /** Ends the account here, and revokes its tokens where that is offered (RFC 7009). */
  disconnect(slug: string): Promise<"disconnected" | "none">;
  /** Ends all of them: the person was disabled, or all access was revoked. */
  disconnectAll(): Promise<void>;
  /** Seals with the first key of the gateway's what another one has sealed. */
  sealAnew(): Promise<SealedAnew>;
}

export interface SealedAnew {
  /** How many it were. */
  readonly accounts: number;
  /** At which the gateway has registered itself for one of the accounts. */
  readonly issuers: readonly string[];
}

export interface CredentialRequest {
  readonly slug: string;
  /** The credential that the server has just refused with 401. */
  readonly refused?: { readonly accountId: string; readonly generation: number };
  readonly challenge?: BearerChallenge;
}

export interface LackingRequest {
  readonly slug: string;
  readonly accountId: string;
  readonly generation: number;
  readonly challenge: BearerChallenge;
}

export type AccountState =
  | "connected"
  /** A refresh had no answer: the old token is used to its end. */
  | "uncertain"
  /** The person has to connect the account again. */
  | "needs-connect"
  /** The account has to allow more. */
  | "needs-scope"
  /** The server has moved to another authorization server. */
  | "moved"
  /** The authorization server is failing. */
  | "failing";

/** What pages show of an account: no secret. Times are in milliseconds since 1970. */
export interface AccountSummary {
  readonly slug: string;
  readonly accountId: string;
  readonly kind: "oauth" | "key" | "client-credentials";
  readonly state: AccountState;
  /** When the state began, as far as it is known. */
  readonly since?: number;
  /** A code of our own (`src/accounts/trouble.ts`). */
  readonly trouble?: string;
  readonly issuer?: string;
  readonly requested: readonly string[];
  readonly granted: readonly string[];
  /** The scopes that were asked for and not given. */
  readonly missing: readonly string[];
  readonly connectedAt: number;
  /** To the hour. */
  readonly usedAt?: number;
  readonly expiresAt?: number;
  /** The last four characters of an API key. */
  readonly keyEnd?: string;
  /** The person who connected a shared account. */
  readonly connectedBy?: string;
}

/** What the page shows before anything happens. */
export type ConnectOffer =
  | {
      readonly kind: "oauth";
      readonly issuer: string;
      /** Where the browser is going to be sent: not always a place of the issuer's own host. */
      readonly authorizationEndpoint: string;
      readonly scopes: readonly string[];
      /** How the gateway is known there. */
      readonly registration: RegistrationWay;
      /** The attempts of the last hour from which the browser did not come back. */
      readonly unanswered: number;
      readonly account?: AccountSummary;
      /** The link was for this person, and has not ended. */
      readonly isAsked: boolean;
    }
  | { readonly kind: "key"; readonly account?: AccountSummary; readonly isAsked: boolean }
  | {
      readonly kind: "problem";
      readonly problem: ConnectProblem;
      readonly account?: AccountSummary;
    };

/** A code of our own (`src/accounts/trouble.ts`), with what its sentence needs. */
export interface ConnectProblem {
  readonly code: string;
  readonly detail?: Readonly<Record<string, string>>;
}

export interface BeginRequest {
  readonly slug: string;
  readonly ask?: string;
  /** Of the gateway: it is part of the redirect URI. */
  readonly origin: string;
  /** Who begins it, for a shared account. */
  readonly person: string;
  /** Registers the gateway anew. */
  readonly isAnew?: boolean;
}

export type BeginOutcome =
  | {
      readonly kind: "redirect";
      readonly url: string;
      readonly cookie: { readonly name: string; readonly value: string; readonly seconds: number };
    }
  | { readonly kind: "problem"; readonly problem: ConnectProblem };

export interface FinishRequest {
  readonly slug: string;
  readonly origin: string;
  readonly person: string;
  /** The query of the callback, as it came. */
  readonly query: string;
  /** All cookies of connect attempts that the browser sent: name and value. */
  readonly cookies: Readonly<Record<string, string>>;
}

export type FinishOutcome =
  | { readonly kind: "connected"; readonly account: AccountSummary }
  /** The attempt is not one of this person and browser, or is over: nothing was changed. */
  | { readonly kind: "unknown" }
  | { readonly kind: "problem"; readonly problem: ConnectProblem };
