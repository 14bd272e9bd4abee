/**
 * The port to identity providers. A provider identifies a person and confirms later whether the
 * sign-in is still valid; it knows nothing of the gateway's own sessions, grants or users.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";

/** A person, as their provider identifies them. The only key is (issuer, subject). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string;
  /** Verified by the provider, or absent. */
  readonly email?: string;
  /** Further facts for the operator's rules; absent where the provider states none. */
  readonly domain?: string;
  readonly groups?: readonly string[];
  readonly organizations?: readonly string[];
  readonly isAdmin: boolean;
}

export type SignInResult =
  | {
      readonly kind: "identity";
      readonly identity: Identity;
      /** The data that `recheck` needs, like a refresh token; a secret, stored sealed. */
      readonly upkeep?: string;
      /**
       * A keyed hash of the owner code that was entered, stored in the session, grant or key that
       * the sign-in begins.
       */
      readonly codeMac?: string;
      /** When the person authenticated, in seconds since 1970; 0 when that is unknown. */
      readonly authTime: number;
    }
  | {
      readonly kind: "refused";
      /** A code, like "not-allowed" or "bad-state". */
      readonly reason: string;
      /**
       * One plain sentence for the person who looks for the cause, without secrets and without the
       * provider's text.
       */
      readonly detail: string;
    };

export type SignInRefused = Extract<SignInResult, { kind: "refused" }>;

/**
 * `unavailable`: the provider could not be asked, or its answer could not be read, which ends
 * nothing and confirms nothing.
 */
export type Recheck =
  | {
      readonly kind: "alive";
      /** Replaces the earlier one, which may be invalid by now. */
      readonly upkeep?: string;
      readonly identity?: Identity;
    }
  | {
      readonly kind: "ended";
      readonly detail: string;
      /**
       * The provider rejects the refresh token, as it does once the token was used and replaced
       * (rotation).
       */
      readonly isTokenRefused?: true;
    }
  | {
      readonly kind: "unavailable";
      /** Replaces the earlier one, as above: the provider renewed its token before it failed. */
      readonly upkeep?: string;
    };

/** A person in the gateway's record, with the provider's latest facts. */
export type KnownIdentity = Omit<Identity, "name" | "isAdmin">;

/** The rights of a person under the current configuration. */
export interface Standing {
  readonly isAdmin: boolean;
}

interface Common {
  /** `[a-z0-9-]{1,24}`; the provider redirects the browser to `/callback/<name>`. */
  readonly name: string;
  /** The text of the button, like "Continue with GitHub". */
  readonly label: string;
  /**
   * Judges a known person by the current configuration. It makes no network request, so it can be
   * called for every request.
   *
   * @param codeMac the MAC in the record that is judged, when it began under the owner code.
   * @returns `undefined` for a person who is not admitted, or no longer admitted.
   */
  standing(identity: KnownIdentity, codeMac: string | undefined): Promise<Standing | undefined>;
}

/** A provider outside the gateway, whose own session has to last. */
interface Remote extends Common {
  /**
   * Called whenever a token is refreshed: asks the provider whether this sign-in is still valid.
   * (2025-03-26, third-party authorization flow: MUST check before honouring a token.)
   */
  recheck(upkeep: string | undefined, identity: KnownIdentity): Promise<Recheck>;
}

export interface Start {
  readonly state: string;
  /** The absolute address of `/callback/<name>`. */
  readonly callback: string;
  /** The person has to authenticate anew, whatever session the provider has. */
  readonly fresh: boolean;
}

export interface Departure {
  readonly kind: "go";
  readonly location: string;
  /** Holds secrets; stored sealed until the browser comes back, and then passed to `finish`. */
  readonly memory: JsonObject;
}

export interface ProviderReturn {
  /** The URL of the callback request. */
  readonly url: URL;
  readonly state: string;
  readonly callback: string;
  readonly memory: JsonObject;
}

/**
 * A provider to which the browser is redirected, and from which it returns to `/callback/<name>`.
 */
export interface RedirectProvider extends Remote {
  readonly kind: "redirect";
  /** Origins that a form's redirect may lead to: browsers check `form-action` for each of them. */
  formActions(): Promise<readonly string[]>;
  begin(start: Start): Promise<Departure | SignInRefused>;
  finish(end: ProviderReturn): Promise<SignInResult>;
}

/** The owner's code, entered on our own page. The caller limits the rate. */
export interface CodeProvider extends Common {
  readonly kind: "code";
  check(code: string): Promise<SignInResult>;
  /** @returns whether a code exists: a new gateway has none before it is set up. */
  hasCode(): Promise<boolean>;
}

/**
 * A provider whose header in the request itself identifies the person, with a proof (Cloudflare Access in
 * front of the pages).
 */
export interface HeaderProvider extends Remote {
  readonly kind: "header";
  /** Where a person ends the session behind the header: until then, each request has it. */
  readonly signOutUrl: string;
  /** @returns `undefined` for a request without that header. */
  identify(headers: Headers): Promise<SignInResult | undefined>;
}

export type IdentityProvider = RedirectProvider | CodeProvider | HeaderProvider;
