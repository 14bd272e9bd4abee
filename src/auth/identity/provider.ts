/**
 * The port behind which people are known. A provider says who somebody is and whether it still
 * stands by that; it knows nothing of the gateway's own sessions, grants or users.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";

/** Who somebody is, as their provider says. (issuer, subject) is the key; nothing else ever is. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string;
  /** Verified by the provider, or absent. */
  readonly email?: string;
  /** What the operator's rules are matched with besides; absent where the provider says nothing. */
  readonly domain?: string;
  readonly groups?: readonly string[];
  readonly organizations?: readonly string[];
  readonly isAdmin: boolean;
}

export type SignInResult =
  | {
      readonly kind: "identity";
      readonly identity: Identity;
      /** What `recheck` needs, like a refresh token; a secret, kept sealed. */
      readonly upkeep?: string;
      /** Which owner code was given: a keyed hash of it, remembered in what the sign-in begins. */
      readonly codeMac?: string;
      /** When the person proved who they are, in seconds since 1970; 0 when nobody says. */
      readonly authTime: number;
    }
  | {
      readonly kind: "refused";
      /** A word for machines, like "not-allowed" or "bad-state". */
      readonly reason: string;
      /** One plain sentence for whoever looks for the cause: no secrets, no words of the provider. */
      readonly detail: string;
    };

export type SignInRefused = Extract<SignInResult, { kind: "refused" }>;

/** `unavailable`: nobody could be asked, which ends nothing and renews nothing. */
export type Recheck =
  | {
      readonly kind: "alive";
      /** In place of the earlier one, which may be worth nothing any more. */
      readonly upkeep?: string;
      readonly identity?: Identity;
    }
  | {
      readonly kind: "ended";
      readonly detail: string;
      /** The refresh token is not taken, as it is not once it was used and replaced (rotation). */
      readonly isTokenRefused?: true;
    }
  | { readonly kind: "unavailable" };

/** Somebody whom a provider has named: what it said last, as the gateway keeps it. */
export type KnownIdentity = Omit<Identity, "name" | "isAdmin">;

/** What today's configuration lets somebody do. */
export interface Standing {
  readonly isAdmin: boolean;
}

interface Common {
  /** `[a-z0-9-]{1,24}`; the browser comes back at `/callback/<name>`. */
  readonly name: string;
  /** On the button, like "Continue with GitHub". */
  readonly label: string;
  /**
   * Judges a known person by the configuration of today. Asks nobody over the network, so it can be
   * asked for every request.
   *
   * @param codeMac remembered in what is to be judged, when it began under the owner code.
   * @returns `undefined` for somebody who is not let in, or not any more.
   */
  standing(identity: KnownIdentity, codeMac: string | undefined): Promise<Standing | undefined>;
}

/** A provider beyond the gateway, whose own session has to last. */
interface Remote extends Common {
  /**
   * Asked whenever a token is refreshed: does the provider still stand by this sign-in?
   * (2025-03-26, third-party authorization flow: MUST check before honouring a token.)
   */
  recheck(upkeep: string | undefined, identity: KnownIdentity): Promise<Recheck>;
}

export interface Start {
  readonly state: string;
  /** The absolute address of `/callback/<name>`. */
  readonly callback: string;
  /** The person shall prove anew who they are, whatever session the provider has. */
  readonly fresh: boolean;
}

export interface Departure {
  readonly kind: "go";
  readonly location: string;
  /** Holds secrets; kept sealed until the browser is back, and given to `finish`. */
  readonly memory: JsonObject;
}

export interface ProviderReturn {
  /** Of the request to the callback. */
  readonly url: URL;
  readonly state: string;
  readonly callback: string;
  readonly memory: JsonObject;
}

/** Sends the browser away and gets it back at `/callback/<name>`. */
export interface RedirectProvider extends Remote {
  readonly kind: "redirect";
  /** Origins that a form's redirect may lead to: browsers hold `form-action` against them all. */
  formActions(): Promise<readonly string[]>;
  begin(start: Start): Promise<Departure | SignInRefused>;
  finish(end: ProviderReturn): Promise<SignInResult>;
}

/** The owner's code, typed into our own page. Whoever calls limits the rate. */
export interface CodeProvider extends Common {
  readonly kind: "code";
  check(code: string): Promise<SignInResult>;
  /** Whether there is a code at all: a new gateway has none before it is set up. */
  hasCode(): Promise<boolean>;
}

/** The request itself says who sends it (Cloudflare Access in front of the pages). */
export interface HeaderProvider extends Remote {
  readonly kind: "header";
  /** @returns `undefined` for a request that says nothing. */
  identify(headers: Headers): Promise<SignInResult | undefined>;
}

export type IdentityProvider = RedirectProvider | CodeProvider | HeaderProvider;
