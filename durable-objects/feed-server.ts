/** The server that a feed is of: one that is configured, for all users or for one account, or one that a person publishes. */

import type { HeldAccounts } from "../src/accounts/held-accounts.ts";
import { readOwner } from "../src/accounts/owner-name.ts";
import { pinnedTo } from "../src/accounts/pinned-credentials.ts";
import { needsVault } from "../src/accounts/settings.ts";
import type { Config } from "../src/config/config.ts";
import { slugsOf } from "../src/endpoint/endpoint.ts";
import { serverFor } from "../src/endpoint/personal-endpoint.ts";
import type { Server } from "../src/endpoint/server.ts";
import { publishedName } from "../src/publishing/publisher.ts";
import { readAccountKey, readPublishedKey } from "../src/upstream/server-key.ts";
import { publishedServerIn } from "./connectors.ts";
import { personalScopeOf } from "./identity.ts";
import { feedKeyOf, feedName } from "./ports.ts";

/** The row with the key: an object that its alarm wakes may not know its name. */
const KEY = "key";

export interface FeedServerOptions {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  /** Remembers the account that the feed is of. */
  readonly accounts: HeldAccounts;
  /** Called when somebody asks a published server that is in no list any more. */
  readonly onUnpublished: () => void;
}

export class FeedServer {
  readonly #options: FeedServerOptions;
  #key: string;

  constructor(options: FeedServerOptions) {
    this.#options = options;
    this.#key = feedKeyOf(options.ctx.id);
  }

  /** The `serverKey`. */
  get key(): string {
    return this.#key;
  }

  /** The same where nothing was looked for yet, since the server is off. */
  get storedKey(): string {
    return this.#stored ?? this.#key;
  }

  /** Keeps the key of a published server for the alarm. */
  remember(): void {
    const isPublished = readPublishedKey(this.#key) !== undefined;
    if (isPublished && this.#stored === undefined) this.#store();
  }

  /** @returns `undefined` where nothing is configured or published of that name. */
  find(config: Config): Server | undefined {
    const { ctx, env } = this.#options;
    // By its id, since an object that its alarm wakes may not know its name.
    const shared = slugsOf(config).find((slug) =>
      env.FEEDS.idFromName(feedName(slug)).equals(ctx.id),
    );
    if (shared === undefined) return this.#published(config) ?? this.#ofAccount(config);
    this.#key = shared;
    return this.#shared(config);
  }

  /** @returns `undefined` for a server that has a feed for each account. */
  #shared(config: Config): Server | undefined {
    const server = config.servers.get(this.#key);
    if (server === undefined || needsVault(server.auth)) return undefined;
    // What all callers share is read in the gateway's own name.
    const gateway = { origin: config.publicOrigin };
    return serverFor(server, gateway, personalScopeOf(this.#options.env, config));
  }

  /** @returns the server that the object is named after, if a person publishes it. */
  #published(config: Config): Server | undefined {
    const { env, onUnpublished } = this.#options;
    this.#key = this.storedKey;
    const { slug = "", publisher } = readPublishedKey(this.#key) ?? {};
    const name = publishedName(slug);
    if (publisher === undefined || name === undefined || !config.isPublishingOn) return undefined;
    return publishedServerIn(env, config, publisher, name, onUnpublished);
  }

  /** @returns the server as the account has it that the object is named after. */
  #ofAccount(config: Config): Server | undefined {
    const { env, accounts } = this.#options;
    const account = readAccountKey(this.#key);
    const server = account && config.servers.get(account.slug);
    const owner = account && readOwner(account.owner);
    if (account === undefined || server === undefined || owner === undefined) return undefined;
    if (!needsVault(server.auth)) return undefined;
    if (this.#stored === undefined) this.#store();
    accounts.hold(account);
    const person = owner.kind === "person" ? owner.person : undefined;
    const own = serverFor(server, { person }, personalScopeOf(env, config));
    const { credentials } = own.target;
    if (credentials === undefined) return undefined;
    return {
      ...own,
      target: { ...own.target, credentials: pinnedTo(account.accountId, credentials) },
    };
  }

  get #stored(): string | undefined {
    return this.#options.ctx.storage.kv.get<string>(KEY);
  }

  #store(): void {
    this.#options.ctx.storage.kv.put(KEY, this.#key);
  }
}
