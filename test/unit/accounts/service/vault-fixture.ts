/** A vault over a database of its own, and an authorization server that a test plays. */

import {
  AccountHolders,
  type HoldersOptions,
} from "../../../../src/accounts/service/account-holders.ts";
import { vaultKeyring } from "../../../../src/accounts/service/vault-keyring.ts";
import type { Authorization } from "../../../../src/accounts/service/authorization.ts";
import type { RenewalAnswer } from "../../../../src/accounts/service/token-renewal.ts";
import { VaultSeal } from "../../../../src/accounts/service/vault-seal.ts";
import { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import { Accounts } from "../../../../src/accounts/store/accounts.ts";
import { HolderRows } from "../../../../src/accounts/store/holder-rows.ts";
import { Asks } from "../../../../src/accounts/store/asks.ts";
import { ConnectAttempts } from "../../../../src/accounts/store/connect-attempts.ts";
import type { OAuthSettings, ServerAuth } from "../../../../src/accounts/settings.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import type { BeginOutcome } from "../../../../src/accounts/vault.ts";
import type { Keyring } from "../../../../src/lib/seal.ts";
import type { SqlFixture } from "../../lib/sql-fixture.ts";

export const OAUTH: OAuthSettings = { legacy: false, catalog: "user" };
const ISSUER = "https://issuer.example";
const PERSON = "u_alice";
const ENDPOINT = new URL("https://server.example/mcp");

type Tokens = Extract<RenewalAnswer, { kind: "tokens" }>["tokens"];

export interface Played {
  /** Called for each request with a refresh token. */
  renew: Authorization["renew"];
  issuers: readonly string[];
  first: Tokens;
  exchanges: number;
  /** What the answer to an exchange waits for. */
  arrived?: Promise<void>;
  /** Whether the person is disabled; they are not, if not said. */
  isDisabled?: () => Promise<boolean>;
  revoked: string[];
  clients: number;
  audit: string[];
  /** By when those who could not be told are to be told again, in milliseconds since 1970. */
  retries: number[];
  /** What goes on beside the answers. */
  work: Promise<unknown>[];
  /** Tells an object that keeps something of an account. */
  tell?: HoldersOptions["tell"];
}

function authorizationOf(played: Played): Authorization {
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    authorization_response_iss_parameter_supported: true,
  };
  return {
    discover: async () => ({
      kind: "found",
      authorizationServer: metadata,
      resource: ENDPOINT.href,
      issuers: played.issuers,
    }),
    registrationWay: () => "dcr",
    client: async () => {
      played.clients += 1;
      return { kind: "client", client: { id: "client", way: "dcr", method: "none" } };
    },
    forgetClient: async () => undefined,
    authorizationUrl: async (_, { state }) => `${ISSUER}/authorize?state=${state}`,
    exchange: async () => {
      played.exchanges += 1;
      await played.arrived;
      return { kind: "tokens", tokens: played.first };
    },
    renew: (...request) => played.renew(...request),
    revoke: async (_server, _account, { refreshToken }) => {
      played.revoked.push(refreshToken ?? "");
    },
    tryKey: async () => "accepted",
  };
}

export function play(more: Partial<Played> = {}): Played {
  return {
    renew: async () => ({ kind: "unanswered" }),
    issuers: [ISSUER],
    first: { accessToken: "access-0", refreshToken: "refresh-0", expiresInMs: 3_600_000 },
    exchanges: 0,
    revoked: [],
    clients: 0,
    audit: [],
    ...{ retries: [], work: [] },
    ...more,
  };
}

export const root = (letter: string): Uint8Array => new TextEncoder().encode(letter.repeat(32));

export interface LifeOptions {
  readonly played: Played;
  readonly owner?: string;
  readonly roots?: readonly Uint8Array[];
  /** Those of `roots` if not said. */
  readonly keys?: () => Promise<Keyring>;
  readonly oauth?: OAuthSettings;
  /** `oauth` if not said. */
  readonly kind?: "oauth" | "client-credentials" | "key";
  readonly endpoint?: URL;
  /** All of the same server. */
  readonly slugs?: readonly string[];
  /** The server is not configured any more. */
  readonly isUnserved?: boolean;
}

function authOf(kind: NonNullable<LifeOptions["kind"]>, oauth: OAuthSettings): ServerAuth {
  return kind === "key" ? { kind, key: { header: "x-key", prefix: "" } } : { kind, oauth };
}

/** One life of the object: what is stored outlasts it. */
export function life({ sql, clock }: SqlFixture, options: LifeOptions): VaultService {
  const { played, owner = `person ${PERSON}`, roots = [root("a")], oauth = OAUTH } = options;
  const now = (): number => clock.now;
  const target = { slug: "s", endpoint: options.endpoint ?? ENDPOINT } as UpstreamTarget;
  const accounts = new Accounts(sql, now);
  return new VaultService({
    isShared: false,
    serverOf: (slug) =>
      (options.slugs ?? ["s"]).includes(slug) && options.isUnserved !== true
        ? { target, auth: authOf(options.kind ?? "oauth", oauth) }
        : undefined,
    accounts,
    attempts: new ConnectAttempts(sql, now),
    asks: new Asks(sql, now),
    holders: new AccountHolders({
      ...{ accounts, now, rows: new HolderRows(sql, now) },
      tell: (...told) => (played.tell === undefined ? Promise.resolve() : played.tell(...told)),
      retryBy: (at) => played.retries.push(at),
    }),
    seal: new VaultSeal(owner, options.keys ?? (() => vaultKeyring(roots))),
    isDisabled: async () => (await played.isDisabled?.()) === true,
    authorization: authorizationOf(played),
    synced: async () => undefined,
    waitUntil: (work) => played.work.push(work),
    audit: (event, _account, more) => played.audit.push([event, more?.reason].join(" ").trim()),
    announce: () => undefined,
    now,
  });
}

const ORIGIN = "https://gateway.example";
export type Begun = Extract<BeginOutcome, { kind: "redirect" }>;

/** @param ask the link that the person followed. */
export async function begin(vault: VaultService, ask?: string): Promise<Begun> {
  const asked = ask === undefined ? {} : { ask };
  const begun = await vault.begin({ slug: "s", origin: ORIGIN, person: PERSON, ...asked });
  if (begun.kind !== "redirect") throw new Error(begun.problem.code);
  return begun;
}

/** The callback of an attempt, as its browser sends it. */
export function callbackOf({ url, cookie }: Begun, more: Readonly<Record<string, string>> = {}) {
  const state = new URL(url).searchParams.get("state") ?? "";
  return {
    ...{ slug: "s", origin: ORIGIN, person: PERSON },
    query: new URLSearchParams({ code: "code", state, iss: ISSUER, ...more }).toString(),
    cookies: { [cookie.name]: cookie.value },
  };
}

export async function connect(vault: VaultService, ask?: string): Promise<void> {
  const outcome = await vault.finish(callbackOf(await begin(vault, ask)));
  if (outcome.kind !== "connected") throw new Error(JSON.stringify(outcome));
}
