/**
 * A refresh token for new tokens, and what the library leaves out: everybody who sends the same
 * request within a moment gets the same answer, and a token that comes back after it was replaced
 * ends the whole family (RFC 9700 section 4.14.2).
 */

import { type GrantState, hasAccessToken, tokenHash } from "./grant-state.ts";
import { RefreshReplays, type Successor } from "./refresh-replays.ts";
import {
  type GrantTokenContext,
  endGrant,
  errorOf,
  rowOf,
  stateOf,
  tellIssued,
  type GrantTokenRequest,
} from "./grant-token-request.ts";

export class TokenRefresh {
  readonly #desk: GrantTokenContext;
  readonly #replays: RefreshReplays;

  constructor(grantContext: GrantTokenContext) {
    this.#desk = grantContext;
    this.#replays = new RefreshReplays(grantContext.replayMs);
  }

  /** @param params the form of the visit. */
  async answer(tokenRequest: GrantTokenRequest, params: URLSearchParams): Promise<Response> {
    const { retired } = this.#desk.grants;
    const rest = await restOf(params, tokenRequest.request.headers);
    const before = stateOf(this.#desk, tokenRequest);
    const replay = await this.#replay(tokenRequest, rest, before);
    if (replay !== undefined) return tokenResponse(replay);
    const successor = this.#replays.newest(tokenRequest.hash);
    if (successor !== undefined && before?.refreshTokens.includes(successor.hash) === true) {
      return this.#answerBeside(tokenRequest, params, rest, successor);
    }
    if (before?.refreshTokens.includes(tokenRequest.hash) === true) {
      // Before they are replaced, so that no death in between can forget them. They stay good for
      // as long as the library takes them: retired ones count only once it does not.
      const others = before.refreshTokens.filter((token) => token !== tokenRequest.hash);
      retired.retire(rowOf(tokenRequest), others);
    }
    const response = await this.#desk.answer(tokenRequest.request);
    if (!response.ok) return this.#refused(tokenRequest, before, response);
    const body = await response.text();
    await this.#replays.keep(tokenRequest.hash, rest, body);
    this.#note(tokenRequest);
    await tellIssued(this.#desk, tokenRequest);
    return tokenResponse(body);
  }

  /**
   * The token was replaced a moment ago, and is sent again with other parameters. If it brought
   * another refresh token, the one that it brought before would be good no more, and whoever used
   * that would end the family: both get the same one, and each an access token of its own.
   */
  async #answerBeside(
    tokenRequest: GrantTokenRequest,
    params: URLSearchParams,
    rest: string,
    successor: Successor,
  ): Promise<Response> {
    const body = new URLSearchParams(params);
    body.set("refresh_token", successor.token);
    const headers = new Headers(tokenRequest.request.headers);
    for (const name of ["content-type", "content-length"]) headers.delete(name);
    const request = new Request(tokenRequest.request.url, { method: "POST", headers, body });
    const response = await this.#desk.answerBeside(request);
    if (!response.ok) {
      // The library ends the grant itself when the judge says that the user may not go on.
      if (stateOf(this.#desk, tokenRequest) === undefined) endGrant(this.#desk, tokenRequest);
      return response;
    }
    const tokens = await response.json<Record<string, unknown>>();
    const answer = JSON.stringify({ ...tokens, refresh_token: successor.token });
    await this.#replays.keepBeside(tokenRequest.hash, rest, answer);
    this.#note(tokenRequest);
    await tellIssued(this.#desk, tokenRequest);
    return tokenResponse(answer);
  }

  #note({ user, grant, form }: GrantTokenRequest): void {
    const { grants, audit } = this.#desk;
    grants.used(user, grant);
    const application = grants.find(user, grant)?.name ?? form.clientId;
    audit.append(user, "token_refreshed", { application, client: form.clientId });
  }

  async #refused(
    tokenRequest: GrantTokenRequest,
    before: GrantState | undefined,
    response: Response,
  ): Promise<Response> {
    const { user, form, hash } = tokenRequest;
    const { audit, grants } = this.#desk;
    // Who could not even say which application they are has not shown that the token was copied.
    const isTheirs =
      before?.client === form.clientId && grants.retired.has(rowOf(tokenRequest), hash);
    if (isTheirs && (await errorOf(response)) === "invalid_grant") {
      endGrant(this.#desk, tokenRequest);
      audit.append(user, "refresh_reuse", { client: form.clientId });
    } else if (before !== undefined && stateOf(this.#desk, tokenRequest) === undefined) {
      // The library ends the grant itself when the judge says that the user may not go on.
      endGrant(this.#desk, tokenRequest);
    }
    return response;
  }

  /** @returns tokens that were issued a moment ago, unless they were ended since. */
  async #replay(
    tokenRequest: GrantTokenRequest,
    rest: string,
    state: GrantState | undefined,
  ): Promise<string | undefined> {
    const answer = this.#replays.find(tokenRequest.hash, rest);
    // A token that was replaced since, by a request that said something else, is no answer.
    if (answer?.refreshToken !== this.#replays.newest(tokenRequest.hash)?.hash) return undefined;
    if (answer === undefined || state?.refreshTokens.includes(answer.refreshToken) !== true) {
      return undefined;
    }
    const { rows, isServed } = this.#desk;
    const isLive =
      hasAccessToken(rows, tokenRequest, answer.accessToken) && (await isServed(tokenRequest));
    return isLive ? answer.body : undefined;
  }
}

/** What a refresh says beside its token: who asks, with which secret, and for what. */
function restOf(params: URLSearchParams, headers: Headers): Promise<string> {
  const rest = [...params].filter(([name]) => name !== "refresh_token");
  return tokenHash(JSON.stringify([rest, headers.get("authorization")]));
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
