/**
 * Access to the records of sign-in: which object holds a record, and the methods of each object.
 */

import type { ClientDocuments } from "../clients/client-documents.ts";
import type { Bearers } from "../oauth/grants/bearers.ts";
import type { TokenAnswer } from "../oauth/grants/grant-token-endpoint.ts";
import type { Grants } from "../oauth/grants/grants.ts";
import type { TokenRequest } from "../oauth/grants/token-request.ts";
import type { ApiKeys, Maker } from "../store/api-keys.ts";
import type { Approvals } from "../store/approvals.ts";
import type { Attempts } from "../store/attempts.ts";
import type { AuditLog } from "../store/audit-log.ts";
import type { BrowserSessions } from "../store/browser-sessions.ts";
import type { CodeTries } from "../store/code-tries.ts";
import type { LoginTraces } from "../store/login-traces.ts";
import type { KvRows } from "../store/kv-rows.ts";
import type { RateLimits } from "../store/rate-limits.ts";
import type { ServiceClients } from "../store/service-clients.ts";
import type { CurrentUser, Users } from "../store/users.ts";

/** A part of an object, as seen from outside of it: every call is a round trip. */
type Remote<T> = {
  readonly [K in keyof T as T[K] extends (...args: never) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** One object. */
export interface AuthShard {
  readonly rows: Remote<KvRows>;
  readonly users: Remote<Users>;
  readonly sessions: Remote<BrowserSessions>;
  readonly approvals: Remote<Approvals>;
  readonly keys: Remote<ApiKeys>;
  readonly audit: Remote<AuditLog>;
  readonly grants: Remote<Grants>;
  readonly bearers: Remote<Bearers>;
  readonly documents: Remote<Pick<ClientDocuments, "load" | "find">>;
  readonly traces: Remote<LoginTraces>;
  readonly limits: Remote<RateLimits>;
  readonly attempts: Remote<Attempts>;
  readonly codeTries: Remote<CodeTries>;
  readonly services: Remote<ServiceClients>;
  /** The token endpoint, for the grants that are here. @param origin the issuer. */
  token(
    origin: string,
    request: Pick<TokenRequest, "params" | "authorization">,
  ): Promise<TokenAnswer>;
  /** @returns a socket that is closed when a grant, a key or a user of these ends. */
  lease(tags: readonly string[]): Promise<WebSocket>;
  /** @returns the user under the current configuration; `undefined` when it does not admit them. */
  currentUser(user: string, codeMac: string | undefined): Promise<CurrentUser | undefined>;
  /** Ends everything that a user has: grants, keys, browser sessions, approvals, open streams. */
  revokeEverything(user: string): Promise<void>;
  /** Resolves when what ended with that has ended in other objects as well; rejects while one cannot be reached. */
  finishEnds(user: string): Promise<void>;
  /** Ends one grant, or all of an application, and its open streams. @returns whether there was one. */
  endGrant(user: string, grant: string): Promise<boolean>;
  /**
   * Ends all access of an application to the users of this object: grants, approvals, open streams.
   *
   * @returns the number of grants that ended.
   */
  endClient(client: string): Promise<number>;
  /** Ends one API key, and the streams that it opened. @returns whether there was one. */
  endKey(owner: string, key: string): Promise<boolean>;
  /**
   * A machine of a person's has connected, by a grant or key: their object is told when any of these ends.
   *
   * @returns `false` when one of them has ended already.
   */
  holdPublisher(person: string, tags: readonly string[]): Promise<boolean>;
  /** The person publishes nothing any more. */
  releasePublisher(person: string): Promise<void>;
  /**
   * Enables a user, or disables them, which signs them out everywhere and permanently. @returns
   * whether the user exists.
   */
  setDisabled(user: string, isDisabled: boolean): Promise<boolean>;
}

export interface AuthStore {
  /**
   * The object of a user, of a service client, or of a record whose key was made to share their
   * object.
   */
  ofUser(key: string): AuthShard;
  ofClient(clientId: string): AuthShard;
  /**
   * Documents of one host share an object, so that the limit of loads for a host is counted once.
   */
  ofDocument(clientId: string): AuthShard;
  /** The object of records that live for minutes. */
  ephemeral(key: string): AuthShard;
  /** Every object of users, for the operator's lists. */
  allOfUsers(): readonly AuthShard[];
  allOfClients(): readonly AuthShard[];
  allEphemeral(): readonly AuthShard[];
  /** By its name (`shards.ts`). */
  shard(name: string): AuthShard;
}

/**
 * @returns whether the maker of a service client is an administrator under the current
 *   configuration.
 */
export async function isAdministrator(
  store: Pick<AuthStore, "ofUser">,
  { user, codeMac }: Maker,
): Promise<boolean> {
  return (await store.ofUser(user).currentUser(user, codeMac))?.isAdmin === true;
}
