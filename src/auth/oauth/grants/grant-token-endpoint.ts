/**
 * The token endpoint where the grants are. Requests for one grant are answered one after the other:
 * the library reads, computes and writes, and concurrent requests would interleave with it. Around
 * the library's own answer stands what it leaves out: a code that is presented twice, the same
 * refresh within a moment, a replaced refresh token, and the reasons for the login doctor.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { AuditLog } from "../../store/audit-log.ts";
import type { CurrentUser } from "../../store/users.ts";
import type { TokenReason } from "../../trace/trace.ts";
import type { GrantJudge } from "./grant-judge.ts";
import {
  grantKey,
  type GrantRecord,
  isPending,
  refreshTokensOf,
  tokenHash,
} from "./grant-record.ts";
import type { Grants } from "./grants.ts";
import type { RefreshAnswer, RefreshToken } from "./refresh-replays.ts";
import { refusalReason } from "./refusal-reason.ts";
import { TokenRequest, type TokenSubject } from "./token-request.ts";

export interface GrantTokenEndpointOptions {
  readonly grants: Grants;
  readonly audit: AuditLog;
  /** The library's token endpoint, on the rows of this object. */
  readonly answer: (request: Request) => Promise<Response>;
  /** The same, for an additional access token: no refresh token of the grant is replaced. */
  readonly answerBeside: (request: Request) => Promise<Response>;
  /** @returns `undefined` for a user who may not be served under the current configuration. */
  readonly currentUser: (
    user: string,
    codeMac: string | undefined,
  ) => Promise<CurrentUser | undefined>;
  readonly judge: Pick<GrantJudge, "refusalOf">;
  /** Called for every application that got a token, so that its registration is kept. */
  readonly onIssued: (clientId: string) => Promise<void>;
  /** Closes the streams that are open for these grants. */
  readonly onEnded: (grants: readonly string[]) => void;
  /** The time for which the same refresh gets the same answer again. */
  readonly replayMs: number;
  /** The number of grants that an application may have for one resource of one user. */
  readonly keptGrants: number;
}

export interface TokenAnswer {
  readonly response: Response;
  /** Why the request was refused, if that is known. For the login doctor; no client receives it. */
  readonly reason?: TokenReason;
}

/** A token request about a grant. */
interface GrantRequest extends TokenSubject {
  readonly request: TokenRequest;
  readonly origin: string;
  readonly clientId: string;
  /** The hash of the code or token in the request. */
  readonly hash: string;
  /** The record of the grant before the request; `undefined` when there was none. */
  readonly before: GrantRecord | undefined;
}

/**
 * A verifier has 256 bits; a client that needs more tries is guessing the verifier of a stolen
 * code.
 */
const MAX_WRONG_TRIES = 5;
const PENDING_MS = 600_000;

export class GrantTokenEndpoint {
  readonly #options: GrantTokenEndpointOptions;
  readonly #mutex = new KeyedMutex();
  readonly #wrongTries = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: PENDING_MS });

  constructor(options: GrantTokenEndpointOptions) {
    this.#options = options;
  }

  /** @param request as the Worker has checked it. */
  async answer(origin: string, request: TokenRequest): Promise<TokenAnswer> {
    const { subject, clientId, credential } = request;
    if (subject === undefined) {
      return { response: await this.#options.answer(request.toHttp(origin)) };
    }
    const hash = await tokenHash(credential);
    return this.#mutex.run(grantKey(subject), () => {
      const before = this.#options.grants.record(subject);
      return this.#answer({ ...subject, request, origin, clientId, hash, before });
    });
  }

  async #answer(grantRequest: GrantRequest): Promise<TokenAnswer> {
    const { request, hash, before, grant } = grantRequest;
    if (request.grantType === "") return { response: await this.#revoke(grantRequest) };
    // The grant, and with it what it knew of the token, may be gone afterwards.
    const wasRetired = this.#options.grants.retired.has(grantKey(grantRequest), hash);
    const response =
      request.grantType === "refresh_token"
        ? await this.#refresh(grantRequest)
        : await this.#redeem(grantRequest);
    const judged = this.#options.judge.refusalOf(grant);
    if (response.ok) return { response };
    const reason =
      judged ?? (await refusalReason(request, { record: before, hash, wasRetired }, Date.now()));
    return { response, ...(reason !== undefined && { reason }) };
  }

  /** Exchanges an authorization code for tokens; the queue of the grant makes that happen once. */
  async #redeem(grantRequest: GrantRequest): Promise<Response> {
    const { grants, audit, keptGrants, onEnded } = this.#options;
    const { user, grant, clientId: client, hash, before } = grantRequest;
    const response = await this.#library(grantRequest);
    const redeemed = response.ok ? grants.find(user, grant) : undefined;
    if (redeemed !== undefined) {
      audit.append(user, "grant_created", { application: redeemed.name, client });
      onEnded(grants.prune(user, redeemed, keptGrants));
      await this.#keepRegistration(grantRequest);
    } else if (this.#hasEnded(grantRequest)) {
      // A code that is presented twice ends its grant (RFC 6749 section 4.1.2). A grant that ended
      // before its code was redeemed ended because its user may not sign in any more.
      this.#end(grantRequest);
      if (before !== undefined && !isPending(before)) audit.append(user, "code_reuse", { client });
    } else if (before !== undefined && isPending(before) && before.authCodeId === hash) {
      await this.#countWrongTry(grantRequest, response);
    }
    return response;
  }

  /**
   * Counts the tries of a client that has the code, but not its verifier. Without the code itself
   * nothing is counted.
   */
  async #countWrongTry(grantRequest: GrantRequest, response: Response): Promise<void> {
    if ((await errorOf(response)) !== "invalid_grant") return;
    const { user, clientId: client } = grantRequest;
    const key = grantKey(grantRequest);
    const tries = (this.#wrongTries.get(key) ?? 0) + 1;
    this.#wrongTries.set(key, tries);
    if (tries < MAX_WRONG_TRIES) return;
    this.#end(grantRequest);
    const reason = "somebody has the code and guesses at the rest";
    this.#options.audit.append(user, "denied", { reason, client });
  }

  /**
   * Exchanges a refresh token for new tokens. The same request within a moment gets the same answer,
   * and a replaced token that is presented later ends the whole family (RFC 9700 section 4.14.2).
   */
  async #refresh(grantRequest: GrantRequest): Promise<Response> {
    const { request, hash, before } = grantRequest;
    const { grants, replayMs } = this.#options;
    const presented = { token: request.credential, hash };
    const rest = await restOf(request);
    const accepted = before === undefined ? [] : refreshTokensOf(before);
    const replay = await grants.replays.find(presented, rest);
    // A token that was replaced or ended since is of no use to the client.
    if (replay !== undefined && accepted.includes(replay.newest.hash)) {
      const { answer, newest } = replay;
      return answer !== undefined && (await this.#isGood(grantRequest, answer))
        ? tokenResponse(answer.body)
        : this.#refreshBeside(grantRequest, rest, { presented, newest });
    }
    if (accepted.includes(hash)) {
      // Recorded before they are replaced, so that a crash in between cannot lose them. They stay
      // good for as long as the library accepts them: retired ones count only once it does not.
      const others = accepted.filter((token) => token !== hash);
      grants.retired.retire(grantKey(grantRequest), others);
    }
    const response = await this.#library(grantRequest);
    if (!response.ok) return this.#refuseRefresh(grantRequest, response);
    const body = await response.text();
    await grants.replays.keep(presented, rest, body, replayMs);
    await this.#noteRefresh(grantRequest);
    return tokenResponse(body);
  }

  /** @returns whether tokens that were issued a moment ago may still be used. */
  async #isGood(grantRequest: GrantRequest, { accessToken }: RefreshAnswer): Promise<boolean> {
    const { user, grant } = grantRequest;
    const { grants, currentUser } = this.#options;
    if (!grants.hasAccessToken(grantRequest, accessToken)) return false;
    return (await currentUser(user, grants.codeMacOf(user, grant))) !== undefined;
  }

  /**
   * The token was replaced a moment ago, and is sent again with other parameters. Another refresh
   * token would invalidate the one that the first request got, and its use would end the family:
   * both get the same refresh token, and each an access token of its own.
   */
  async #refreshBeside(
    grantRequest: GrantRequest,
    rest: string,
    { presented, newest }: { readonly presented: RefreshToken; readonly newest: RefreshToken },
  ): Promise<Response> {
    const { request, origin } = grantRequest;
    const params = new URLSearchParams(request.params);
    params.set("refresh_token", newest.token);
    const renewed = new TokenRequest(params, request.authorization);
    const response = await this.#options.answerBeside(renewed.toHttp(origin));
    if (!response.ok) {
      // The library ends the grant itself when the judge refuses the user.
      if (this.#hasEnded(grantRequest)) this.#end(grantRequest);
      return response;
    }
    const tokens = await response.json<Record<string, unknown>>();
    const answer = JSON.stringify({ ...tokens, refresh_token: newest.token });
    await this.#options.grants.replays.keepBeside(presented, rest, answer);
    await this.#noteRefresh(grantRequest);
    return tokenResponse(answer);
  }

  async #refuseRefresh(grantRequest: GrantRequest, response: Response): Promise<Response> {
    const { user, clientId: client, hash, before } = grantRequest;
    const { audit, grants } = this.#options;
    // A client that does not know its own client id has not shown that the token was copied. A token
    // that is accepted still is refused for another reason, which may pass.
    const isReused =
      before?.clientId === client &&
      !refreshTokensOf(before).includes(hash) &&
      grants.retired.has(grantKey(grantRequest), hash);
    if (isReused && (await errorOf(response)) === "invalid_grant") {
      this.#end(grantRequest);
      audit.append(user, "refresh_reuse", { client });
    } else if (this.#hasEnded(grantRequest)) {
      // The library ends the grant itself when the judge refuses the user.
      this.#end(grantRequest);
    }
    return response;
  }

  async #noteRefresh(grantRequest: GrantRequest): Promise<void> {
    const { user, grant, clientId: client } = grantRequest;
    const { grants, audit } = this.#options;
    grants.used(user, grant);
    const application = grants.find(user, grant)?.name ?? client;
    audit.append(user, "token_refreshed", { application, client });
    await this.#keepRegistration(grantRequest);
  }

  /**
   * Revokes a token for its application (RFC 7009): a refresh token ends the grant and all tokens
   * that were issued under it, an access token ends alone. A token that does not exist, or is
   * another application's, changes nothing, and the response does not reveal that.
   */
  async #revoke(grantRequest: GrantRequest): Promise<Response> {
    const { grants, audit, onEnded } = this.#options;
    const { user, grant, clientId: client, hash } = grantRequest;
    const wasAccessToken = grants.hasAccessToken(grantRequest, hash);
    const response = await this.#library(grantRequest);
    if (this.#hasEnded(grantRequest)) this.#end(grantRequest);
    else if (wasAccessToken && !grants.hasAccessToken(grantRequest, hash)) onEnded([grant]);
    else return response;
    audit.append(user, "token_revoked", { client });
    return response;
  }

  #library({ request, origin }: GrantRequest): Promise<Response> {
    return this.#options.answer(request.toHttp(origin));
  }

  #hasEnded(grantRequest: GrantRequest): boolean {
    return (
      grantRequest.before !== undefined && this.#options.grants.record(grantRequest) === undefined
    );
  }

  /** Ends a grant, all tokens that were issued under it, and the streams that are open for it. */
  #end({ user, grant }: TokenSubject): void {
    this.#options.grants.revoke(user, grant);
    this.#options.onEnded([grant]);
  }

  /** The token is issued: no failure from here on may keep it from its client. */
  async #keepRegistration({ clientId }: GrantRequest): Promise<void> {
    try {
      await this.#options.onIssued(clientId);
    } catch {
      // The next token extends the registration.
    }
  }
}

/** @returns the error code of an answer that refuses (RFC 6749 section 5.2). */
async function errorOf(response: Response): Promise<string | undefined> {
  return (await response.clone().json<{ readonly error?: string }>()).error;
}

/**
 * @returns a digest of the refresh beside its token: the client, its secret, and the parameters.
 */
function restOf({ params, authorization }: TokenRequest): Promise<string> {
  const rest = [...params].filter(([name]) => name !== "refresh_token");
  return tokenHash(JSON.stringify([rest, authorization]));
}

/** RFC 6749 section 5.1: MUST NOT be stored. */
function tokenResponse(body: string): Response {
  return new Response(body, {
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      Pragma: "no-cache",
    },
  });
}
