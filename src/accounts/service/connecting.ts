/**
 * Connects an account in a browser: `begin` sends it to the authorization server, `finish` takes it back. The
 * callback counts only with the `state`, the browser's cookie and the person of the attempt; whatever does
 * not fit changes nothing, so that the true callback still works after it.
 */

import { hashOf, randomSecret } from "../../lib/random.ts";
import { handleKeyring } from "../../lib/handle-keyring.ts";
import { seal, unseal } from "../../lib/seal.ts";
import { callbackUrl } from "../addresses.ts";
import { acceptedAt, type Account, type AccountIssuer, timesOf } from "../account.ts";
import {
  type AuthorizationResponse,
  judgeAuthorizationResponse,
  parseAuthorizationResponse,
} from "../client/authorization-response.ts";
import { scopesToRequest } from "../scopes.ts";
import type { Discovery } from "../discovery/discover.ts";
import type { OAuthSettings } from "../settings.ts";
import type { Accounts } from "../store/accounts.ts";
import { ATTEMPT_MS, type ConnectAttempts } from "../store/connect-attempts.ts";
import { resolveSettings } from "../vendor-defaults.ts";
import type {
  BeginOutcome,
  BeginRequest,
  ConnectOffer,
  FinishOutcome,
  FinishRequest,
} from "../vault.ts";
import { problem, summaryOf } from "./account-summary.ts";
import type { AccountServer, Authorization } from "./authorization.ts";
import { newAccountId } from "./credential-header.ts";
import type { ConnectLinks } from "./links.ts";
import type { FreshTokens } from "./token-renewal.ts";
import type { AccountSecrets, VaultSeal } from "./vault-seal.ts";

export interface ConnectingOptions {
  readonly accounts: Accounts;
  readonly attempts: ConnectAttempts;
  readonly links: ConnectLinks;
  readonly seal: VaultSeal;
  readonly authorization: Authorization;
  /** Whether an operator has disabled the owner of the vault. */
  readonly isDisabled: () => Promise<boolean>;
  /** Grows with each time that the account of a slug was ended, also where there was none yet. */
  readonly ends: (slug: string) => number;
  /** Stores the account. @returns `false` when its slug has other `ends` by now: then it is not stored. */
  readonly keep: (account: Account, sealed: string, ends: number) => boolean;
  /** Revokes tokens that came when nobody wanted them any more. */
  readonly discard: (account: Account, secrets: AccountSecrets) => void;
  readonly onFailed: (slug: string, person: string, code: string) => void;
  readonly now: () => number;
}

/** What the callback needs of an attempt; sealed with a key that only the `state` gives. */
interface AttemptContent {
  readonly issuer: AccountIssuer;
  /** Absent where nobody has said who the authorization server is. */
  readonly expectedIssuer?: string;
  readonly namesItself: boolean;
  readonly secret?: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly resource?: string;
  readonly requested: readonly string[];
  /** The server that the account is for. */
  readonly endpoint: string;
  /** As of the account; an attempt of an earlier version has none. */
  readonly isRepeatable?: boolean;
}

type OAuthOffer = Extract<ConnectOffer, { kind: "oauth" }>;

const COOKIE = "__Host-edgeway-connect-";
const COOKIE_ID_CHARS = 6;
const HANDLE = /^[A-Za-z0-9_-]{43}$/;
const TEN_MINUTES_MS = 600_000;
const MAX_PER_TEN_MINUTES = 20;
const SEALED = "edgeway/connect-attempt/1";

export class Connecting {
  readonly #options: ConnectingOptions;
  /** The exchanges that run in this life of the object, by attempt. */
  readonly #running = new Map<string, Promise<FinishOutcome>>();

  constructor(options: ConnectingOptions) {
    this.#options = options;
  }

  /** @returns what a page shows before anything happens; `undefined` when the gateway cannot be a client there. */
  offer(
    oauth: OAuthSettings,
    found: Extract<Discovery, { kind: "found" }>,
    account: Account | undefined,
    wanted: readonly string[],
  ): Pick<OAuthOffer, "issuer" | "authorizationEndpoint" | "scopes" | "registration"> | undefined {
    const { authorizationServer: metadata } = found;
    const registration = this.#options.authorization.registrationWay(oauth, metadata);
    if (registration === undefined) return undefined;
    return {
      issuer: metadata.issuer,
      authorizationEndpoint: metadata.authorization_endpoint ?? "",
      scopes: scopesFor(oauth, found, account, wanted) ?? [],
      registration,
    };
  }

  async begin(
    server: AccountServer,
    oauth: OAuthSettings,
    request: BeginRequest,
  ): Promise<BeginOutcome> {
    const { accounts, attempts, links, authorization } = this.#options;
    const { slug, origin, person, ask, isAnew = false } = request;
    if (attempts.begun(slug, TEN_MINUTES_MS) >= MAX_PER_TEN_MINUTES) return problem("too-many");
    const wanted = ask === undefined ? [] : await links.scopes(slug, ask);
    if (wanted === undefined) return problem("unknown-link");
    const account = accounts.find(slug)?.account;
    const redirectUri = callbackUrl(origin, slug);
    const found = await authorization.discover(server, {
      connectedTo: account?.issuer?.issuer,
      isFresh: true,
    });
    if (found.kind === "failed") return problem(found.trouble);
    const metadata = found.authorizationServer;
    const client = await authorization.client(server, metadata, { origin, isAnew, redirectUri });
    if (client.kind === "problem") return client;
    const scopes = scopesFor(oauth, found, account, wanted);
    const isStatic = oauth.tokenEndpoint !== undefined && oauth.issuer === undefined;
    const content: AttemptContent = {
      issuer: issuerOf(metadata, client.client),
      ...(!isStatic && { expectedIssuer: metadata.issuer }),
      namesItself: metadata.authorization_response_iss_parameter_supported === true,
      ...(client.secret !== undefined && { secret: client.secret }),
      verifier: randomSecret(),
      redirectUri,
      ...(found.resource !== undefined && { resource: found.resource }),
      requested: scopes ?? [],
      endpoint: server.target.endpoint.href,
      isRepeatable: resolveSettings(oauth, metadata.issuer).rotation === "none",
    };
    const { state, cookie } = await this.#open(slug, person, content);
    const url = await authorization.authorizationUrl(server, {
      ...content,
      metadata,
      client: client.client,
      state,
      ...(scopes !== undefined && { scopes }),
    });
    return url === undefined ? problem("unsupported") : { kind: "redirect", url, cookie };
  }

  async finish(server: AccountServer, request: FinishRequest): Promise<FinishOutcome> {
    const { slug, person, cookies } = request;
    const query = parseAuthorizationResponse(request.query);
    if (query === undefined || !HANDLE.test(query.state)) return { kind: "unknown" };
    const id = await hashOf(query.state);
    const cookie = cookies[cookieName(id)];
    if (cookie === undefined) return { kind: "unknown" };
    const browser = await hashOf(cookie);
    const ends = this.#options.ends(slug);
    // The page has asked this too, and since then all accounts of the vault may have been ended. Whoever is disabled
    // after this answer has their accounts ended after it, which the `ends` show.
    if (await this.#options.isDisabled()) return { kind: "unknown" };
    // A code works once: without the keys nothing is taken, and the same callback still works after that.
    await this.#options.seal.ready();
    const taken = this.#options.attempts.take({ id, browser, slug, person });
    switch (taken.kind) {
      case "gone":
        return { kind: "unknown" };
      case "repeated":
        return this.#again(id, query.state, taken.answer);
      case "taken": {
        const finishing = this.#exchange(server, query, taken.content, { ...request, ends }).then(
          async (outcome) => {
            const ring = await handleKeyring(SEALED, query.state);
            this.#options.attempts.settle(id, await seal(ring, "answer", outcome));
            return outcome;
          },
        );
        this.#running.set(id, finishing);
        return finishing.finally(() => this.#running.delete(id));
      }
    }
  }

  /** A reload gets what the first request got. An exchange that died with its object has no answer. */
  async #again(id: string, state: string, answer: string | undefined): Promise<FinishOutcome> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    if (answer === undefined) return problem("exchange-unanswered");
    const opened = await unseal(await handleKeyring(SEALED, state), "answer", answer);
    return (opened as FinishOutcome | undefined) ?? { kind: "unknown" };
  }

  async #open(
    slug: string,
    person: string,
    content: AttemptContent,
  ): Promise<{
    readonly state: string;
    readonly cookie: Extract<BeginOutcome, { kind: "redirect" }>["cookie"];
  }> {
    const [state, value] = [randomSecret(), randomSecret()];
    const [id, browser, ring] = await Promise.all([
      hashOf(state),
      hashOf(value),
      handleKeyring(SEALED, state),
    ]);
    const sealed = await seal(ring, "content", content);
    this.#options.attempts.open({ id, browser, slug, person, content: sealed });
    return { state, cookie: { name: cookieName(id), value, seconds: ATTEMPT_MS / 1000 } };
  }

  async #exchange(
    server: AccountServer,
    query: AuthorizationResponse,
    sealed: string,
    { slug, person, ends }: FinishRequest & { readonly ends: number },
  ): Promise<FinishOutcome> {
    const failed = (code: string): FinishOutcome => {
      this.#options.onFailed(slug, person, code);
      return problem(code);
    };
    const ring = await handleKeyring(SEALED, query.state);
    const content = (await unseal(ring, "content", sealed)) as AttemptContent | undefined;
    if (content === undefined || content.endpoint !== server.target.endpoint.href) {
      return { kind: "unknown" };
    }
    const { expectedIssuer: issuer, namesItself: sendsIss } = content;
    const verdict = judgeAuthorizationResponse(query, { issuer, sendsIss });
    if (verdict.kind === "failed") return failed(verdict.trouble);
    const answer = await this.#options.authorization.exchange(server, {
      ...content,
      code: verdict.code,
    });
    if (answer.kind === "problem") return failed(answer.problem.code);
    const account = await this.#keep({ slug, person, ends }, content, answer.tokens);
    return account === undefined
      ? { kind: "unknown" }
      : { kind: "connected", account: summaryOf(account) };
  }

  /**
   * Nothing of the answer is looked at before its tokens are written.
   *
   * @returns `undefined` when the account was ended meanwhile.
   */
  async #keep(
    { slug, person, ends }: Pick<FinishRequest, "slug" | "person"> & { readonly ends: number },
    { issuer, secret, resource, requested, endpoint, isRepeatable = false }: AttemptContent,
    tokens: FreshTokens,
  ): Promise<Account | undefined> {
    const { accounts, seal: vaultSeal, now, keep, discard } = this.#options;
    const { accessToken, refreshToken } = tokens;
    const account: Account = {
      slug,
      id: newAccountId(),
      kind: "oauth",
      life: "connected",
      endpoint,
      issuer: acceptedAt(issuer, tokens),
      resource,
      requested,
      granted: tokens.granted ?? requested,
      wanted: [],
      generation: 1,
      isRenewable: refreshToken !== undefined,
      isRepeatable,
      ...timesOf(tokens, now()),
      failures: 0,
      connectedAt: now(),
      connectedBy: person,
    };
    const secrets = {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(secret !== undefined && { clientSecret: secret }),
    };
    const sealed = await vaultSeal.sealSecrets(account, secrets);
    if (keep(account, sealed, ends)) return account;
    // If it was connected again, to revoke might end that grant as well.
    if (accounts.find(slug) === undefined) discard(account, secrets);
    return undefined;
  }
}

function scopesFor(
  oauth: OAuthSettings,
  { authorizationServer: metadata, scopes: offered }: Extract<Discovery, { kind: "found" }>,
  account: Account | undefined,
  wanted: readonly string[],
): readonly string[] | undefined {
  return scopesToRequest({
    settings: resolveSettings(oauth, metadata.issuer),
    requested: account?.requested ?? [],
    challenged: wanted.join(" "),
    ...(offered !== undefined && { offered }),
    ...(metadata.scopes_supported !== undefined && { supported: metadata.scopes_supported }),
  });
}

function issuerOf(
  metadata: { issuer: string; token_endpoint: string; revocation_endpoint?: string },
  client: AccountIssuer["client"],
): AccountIssuer {
  const {
    issuer,
    token_endpoint: tokenEndpoint,
    revocation_endpoint: revocationEndpoint,
  } = metadata;
  return { issuer, tokenEndpoint, revocationEndpoint, client };
}

/** @param id the hash of the `state`. */
function cookieName(id: string): string {
  return COOKIE + id.slice(0, COOKIE_ID_CHARS);
}
