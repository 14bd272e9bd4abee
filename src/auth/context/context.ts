/** What every handler of sign-in works with: the request's surroundings, passed as one value. */

import type { ServerHealth } from "../../observability/health.ts";
import type { Limits } from "../../policy/limits.ts";
import type { Trace } from "../trace/trace.ts";
import type { IdentityProvider } from "../identity/provider.ts";
import type { AuthSecrets } from "../secrets.ts";
import type { Authorities, Authority, AuthorityEnv } from "../oauth/engine/authority.ts";
import type { ClientKeys } from "../clients/assertion-keys.ts";
import type { OwnerSetup } from "../identity/owner-setup.ts";
import type { AuthStore } from "./auth-store.ts";

/** What lasts as long as the isolate does. */
export interface AuthBacking {
  readonly authorities: Authorities;
  /** The library's storage, as the Worker reaches it. */
  readonly engine: AuthorityEnv;
  readonly store: AuthStore;
  readonly secrets: () => Promise<AuthSecrets>;
  /** The keys that clients sign with. */
  readonly clientKeys: ClientKeys;
  /** By name; the first one is the default. */
  readonly providers: ReadonlyMap<string, IdentityProvider>;
  /** How the owner of a new gateway gets a code. */
  readonly setup: OwnerSetup;
  /** How each configured server is, in the operator's order. Soon, and never rejects. */
  readonly serverHealth: () => Promise<readonly ServerHealth[]>;
}

export interface AuthContext extends Omit<AuthBacking, "authorities"> {
  /** The issuer and origin of every page and endpoint, without a slash at its end. */
  readonly origin: string;
  readonly authority: Authority;
  readonly limits: Limits;
  /** Tells the login doctor of a step. */
  readonly trace: Trace;
  /** Keeps the Worker running for what outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/**
 * Whom a limit is counted for: an address, or of IPv6 the network that one household has. It is
 * what the platform says of the connection; nothing that a client sends is read.
 */
export function addressOf(request: Request): string {
  const address = request.headers.get("cf-connecting-ip") ?? "local";
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head.split(":");
  const missing = 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  const all = address.includes("::") ? [...groups, ...Array<string>(missing).fill("0")] : groups;
  return `${all.slice(0, 4).join(":")}::/64`;
}
