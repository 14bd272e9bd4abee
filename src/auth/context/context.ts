/** The context of a sign-in request, passed to every handler as one value. */

import type { Limits } from "../../policy/limits.ts";
import type { Trace } from "../trace/trace.ts";
import { traceInto } from "./tracer.ts";
import type { IdentityProvider } from "../identity/provider.ts";
import type { AuthSecrets } from "../secrets.ts";
import type { Authorities, Authority, AuthorityEnv } from "../oauth/engine/authority.ts";
import type { ClientKeys } from "../clients/assertion-keys.ts";
import type { OwnerSetup } from "../identity/owner-code.ts";
import type { AuthStore } from "./auth-store.ts";

/** The parts that live as long as the isolate. */
export interface AuthBacking {
  readonly authorities: Authorities;
  /** The library's storage, as the Worker reaches it. */
  readonly engine: AuthorityEnv;
  readonly store: AuthStore;
  readonly secrets: () => Promise<AuthSecrets>;
  /** The public keys of clients. */
  readonly clientKeys: ClientKeys;
  /** By name; the first one is the default. */
  readonly providers: ReadonlyMap<string, IdentityProvider>;
  /** The way in which the owner of a new gateway gets a code. */
  readonly setup: () => OwnerSetup;
}

export interface AuthContext extends Omit<AuthBacking, "authorities"> {
  /** The issuer and origin of every page and endpoint, without a slash at its end. */
  readonly origin: string;
  readonly authority: Authority;
  readonly limits: Limits;
  /** Records a step for the login doctor. */
  readonly trace: Trace;
  /** Keeps the Worker running for work that outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

interface Surroundings {
  readonly request: Request;
  readonly origin: string;
  readonly limits: Limits;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** Called once for a request: its steps for the login doctor are stored in order. */
export function authContextOf(
  { authorities, ...backing }: AuthBacking,
  { request, origin, limits, waitUntil }: Surroundings,
): AuthContext {
  const address = addressOf(request);
  const agent = request.headers.get("user-agent") ?? "";
  const trace = traceInto({ store: backing.store, waitUntil, address, agent });
  return { ...backing, origin, limits, waitUntil, authority: authorities.at(origin), trace };
}

/**
 * @returns the key that a limit is counted for: the address, or for IPv6 the network of one
 *   household. It comes from the platform's record of the connection; nothing that a client sends
 *   is read.
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
