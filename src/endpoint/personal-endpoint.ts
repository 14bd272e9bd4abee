/**
 * An endpoint as one person has it: its servers that know their callers by an account carry the
 * credentials of that person's vault, or of the shared one. An endpoint without such servers is the same
 * object for everybody.
 */

import { credentialsOf } from "../accounts/credentials-of.ts";
import { type IdentitySettings, isPersonal, needsVault } from "../accounts/settings.ts";
import type { VaultOwner, Vaults } from "../accounts/vault.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";
import type { AssertedCaller } from "../upstream/target.ts";
import type { Credentials } from "../upstream/credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Server } from "./server.ts";

/** Who calls, as far as it is known here. */
export interface Caller {
  readonly person?: string | undefined;
  readonly application?: string | undefined;
  /** Of the gateway. */
  readonly origin?: string | undefined;
}

export interface PersonalScope {
  readonly vaults: Vaults;
  readonly cacheSeconds: number;
  readonly assertion: (settings: IdentitySettings, caller: AssertedCaller) => Promise<string>;
}

/** Derived values are cached by endpoint, so each person's is made once, for as long as it is used. */
const made = new WeakMap<Endpoint, BoundedCache<Endpoint>>();
const MAX_PEOPLE = 1000;
const HOUR_MS = 3_600_000;

/** @param caller without a person where that is not known yet, so that no account may be used. */
export function endpointFor(endpoint: Endpoint, caller: Caller, scope: PersonalScope): Endpoint {
  if (!isPersonalized(endpoint)) return endpoint;
  const known = made.get(endpoint) ?? new BoundedCache({ maxEntries: MAX_PEOPLE, ttlMs: HOUR_MS });
  made.set(endpoint, known);
  const { person, application, origin } = caller;
  const key = JSON.stringify([person, application, origin]);
  let personal = known.get(key);
  if (personal === undefined) {
    const [first, ...others] = endpoint.servers;
    const own = (server: Server): Server => {
      const its = serverFor(server, caller, scope);
      if (its.target.credentials === undefined) return its;
      return { ...its, connectTool: connectToolOf(endpoint, server) };
    };
    personal = { ...endpoint, servers: [own(first), ...others.map(own)] };
    known.set(key, personal);
  }
  return personal;
}

/** The names of the tool by which an account is connected, where a prefix precedes it and where none does. */
export const CONNECT_TOOLS = { prefixed: "connect", plain: "connect_account" } as const;

function connectToolOf(endpoint: Endpoint, { slug, prefix }: Server): string {
  const { isMerged, keepsNames, plain } = endpoint;
  const isPrefixed = isMerged && !keepsNames && prefix !== "" && slug !== plain;
  return CONNECT_TOOLS[isPrefixed ? "prefixed" : "plain"];
}

/** True for an endpoint that differs from person to person, or asks the shared vault: what is kept has keys of its own. */
export function hasAccounts({ servers }: Endpoint): boolean {
  return servers.some(({ auth, target }) => needsVault(auth) || target.publisher !== undefined);
}

/** True for an endpoint whose servers know who calls. */
export function isPersonalized(endpoint: Endpoint): boolean {
  return hasAccounts(endpoint) || endpoint.servers.some(({ identity }) => identity !== undefined);
}

/** @returns the server with the credentials that this caller has there, and told who that is. */
export function serverFor(server: Server, caller: Caller, scope: PersonalScope): Server {
  return withAssertion(withCredentials(server, caller, scope), caller, scope);
}

function withAssertion(
  server: Server,
  { person, application, origin }: Caller,
  { assertion }: PersonalScope,
): Server {
  const { identity, target } = server;
  if (identity === undefined || origin === undefined) return server;
  const caller: AssertedCaller = {
    origin,
    ...(person !== undefined && { person }),
    ...(application !== undefined && { application }),
  };
  const value = (): Promise<string> => assertion(identity, caller);
  return {
    ...server,
    target: { ...target, assertion: { header: identity.header, caller, value } },
  };
}

function withCredentials(
  server: Server,
  { person }: Caller,
  { vaults, cacheSeconds }: PersonalScope,
): Server {
  const { slug, auth, target } = server;
  if (!needsVault(auth)) return server;
  const owner = ownerFor(auth, person);
  const endpoint = target.endpoint.href;
  const credentials =
    owner === undefined ? NOBODYS : credentialsOf(vaults, { owner, slug, endpoint, cacheSeconds });
  return { ...server, target: { ...target, credentials } };
}

function ownerFor(auth: Server["auth"], person: string | undefined): VaultOwner | undefined {
  if (!isPersonal(auth)) return { kind: "shared" };
  return person === undefined ? undefined : { kind: "person", person };
}

const UNKNOWN = { kind: "need", need: "later", reason: "person-unknown" } as const;

/** No vault has this name. */
export const NOBODY = "nobody";

const NOBODYS: Credentials = {
  owner: NOBODY,
  changed: () => undefined,
  announce: () => Promise.resolve(),
  account: () => Promise.resolve(undefined),
  connected: () => Promise.resolve(),
  current: () => Promise.resolve(UNKNOWN),
  refused: () => Promise.resolve(UNKNOWN),
  lacking: () => Promise.resolve(UNKNOWN),
};
