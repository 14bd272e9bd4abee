/**
 * Resolves a bearer token to its user, where the user's records are: a token that was just revoked,
 * or whose user was just disabled, is invalid.
 */

import type { Authority, AuthorityEnv } from "../engine/authority.ts";
import { isEnough, wholeOf } from "../../resources.ts";
import { scopesOf } from "../../scopes.ts";
import type { CurrentUser } from "../../store/users.ts";
import type { ApiKey, ApiKeys, Maker } from "../../store/api-keys.ts";
import type { Grants } from "./grants.ts";
import { subjectOf } from "./token-request.ts";

export interface Bearer {
  /** A user, or a service client. */
  readonly user: string;
  /** The application; of an API key, the key. */
  readonly client: string;
  readonly scopes: readonly string[];
  /** True for an administrator under the current configuration; a service client is none. */
  readonly isAdmin: boolean;
  /** The user publishes servers: told here, so that nothing has to be asked about those who do not. */
  readonly publishes?: true;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** The id of the grant or key whose end is the end of the token. */
  readonly lease: string;
}

export interface BearersOptions {
  readonly authority: (origin: string) => Authority;
  readonly env: AuthorityEnv;
  /** @returns `undefined` for a user who may not be served under the current configuration. */
  readonly currentUser: (
    user: string,
    codeMac: string | undefined,
  ) => Promise<CurrentUser | undefined>;
  /** @returns whether the maker of a service client is an administrator under the current configuration. */
  readonly isAdministrator: (maker: Maker) => Promise<boolean>;
  readonly grants: Grants;
  readonly keys: ApiKeys;
}

export class Bearers {
  readonly #options: BearersOptions;

  constructor(options: BearersOptions) {
    this.#options = options;
  }

  /**
   * @param resource the canonical resource that the token has to be for (RFC 8707 section 2.2, and
   *   the MCP specification: MUST reject a token for another audience). A token for the resource
   *   that contains this one is accepted too, if it has the scope of the whole.
   */
  async check(origin: string, resource: string, token: string): Promise<Bearer | undefined> {
    const { resources } = this.#options.authority(origin);
    const own = await this.#checkFor(origin, resource, token);
    if (own !== undefined) return own;
    const whole = wholeOf(resources, resource);
    const bearer = whole && (await this.#checkFor(origin, whole.id, token));
    return bearer !== undefined && isEnough(bearer.scopes, whole?.enough ?? [])
      ? bearer
      : undefined;
  }

  async #checkFor(origin: string, resource: string, token: string): Promise<Bearer | undefined> {
    const subject = subjectOf(token);
    if (subject === undefined) return this.#checkKey(resource, token);
    const { authority, env, grants, currentUser } = this.#options;
    const valid = await authority(origin).validate(resource, token, env);
    if (valid === null) return undefined;
    const codeMac = grants.codeMacOf(valid.userId, subject.grant);
    const user = await currentUser(valid.userId, codeMac);
    if (user === undefined) return undefined;
    grants.used(valid.userId, subject.grant);
    return {
      user: valid.userId,
      client: valid.clientId,
      scopes: scopesOf(user, valid.scope),
      isAdmin: user.isAdmin,
      ...(user.publishes === true && { publishes: true }),
      expiresAt: valid.expiresAt * 1000,
      lease: subject.grant,
    };
  }

  async #checkKey(resource: string, token: string): Promise<Bearer | undefined> {
    const key = await this.#options.keys.check(token);
    if (key === undefined || !key.resources.includes(resource)) return undefined;
    const rights = await this.#rightsOfKey(key);
    if (rights === undefined) return undefined;
    const client = key.kind === "sk" ? `key:${key.id}` : key.owner;
    const { owner, expiresAt, id } = key;
    return { user: owner, client, ...rights, expiresAt, lease: id };
  }

  /** @returns `undefined` when the user or the maker of the key may not be served any more. */
  async #rightsOfKey({
    kind,
    owner,
    scopes,
    codeMac,
    maker,
  }: ApiKey): Promise<Pick<Bearer, "scopes" | "isAdmin" | "publishes"> | undefined> {
    const { currentUser, isAdministrator } = this.#options;
    if (kind === "cc") {
      const isMade = maker !== undefined && (await isAdministrator(maker));
      return isMade ? { scopes, isAdmin: false } : undefined;
    }
    const user = await currentUser(owner, codeMac);
    if (user === undefined) return undefined;
    const publishes = user.publishes === true && { publishes: true as const };
    return { scopes: scopesOf(user, scopes), isAdmin: user.isAdmin, ...publishes };
  }
}
