/**
 * Exchanges a refresh token for new tokens, and adds what the library leaves out: the same request
 * within a moment gets the same answer, and a replaced token that is presented later ends the whole
 * family (RFC 9700 section 4.14.2).
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
  readonly #context: GrantTokenContext;
  readonly #replays: RefreshReplays;

  constructor(grantContext: GrantTokenContext) {
    this.#context = grantContext;
    this.#replays = new RefreshReplays(grantContext.replayMs);
  }

  /** @param params the form of the request. */
  async answer(tokenRequest: GrantTokenRequest, params: URLSearchParams): Promise<Response> {
    const { retired } = this.#context.grants;
    const rest = await restOf(params, tokenRequest.request.headers);
    const before = stateOf(this.#context, tokenRequest);
    const replay = await this.#replay(tokenRequest, rest, before);
    if (replay !== undefined) return tokenResponse(replay);
    const successor = this.#replays.newest(tokenRequest.hash);
    if (successor !== undefined && before?.refreshTokens.includes(successor.hash) === true) {
      return this.#answerBeside(tokenRequest, params, rest, successor);
    }
    if (before?.refreshTokens.includes(tokenRequest.hash) === true) {
      // Recorded before they are replaced, so that a crash in between cannot lose them. They stay
      // good for as long as the library accepts them: retired ones count only once it does not.
      const others = before.refreshTokens.filter((token) => token !== tokenRequest.hash);
      retired.retire(rowOf(tokenRequest), others);
    }
    const response = await this.#context.answer(tokenRequest.request);
    if (!response.ok) return this.#refused(tokenRequest, before, response);
    const body = await response.text();
    await this.#replays.keep(tokenRequest.hash, rest, body);
    this.#note(tokenRequest);
    await tellIssued(this.#context, tokenRequest);
    return tokenResponse(body);
  }

  /**
   * The token was replaced a moment ago, and is sent again with other parameters. Another refresh
   * token would invalidate the one that the first request got, and its use would end the family:
   * both get the same refresh token, and each an access token of its own.
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
    const response = await this.#context.answerBeside(request);
    if (!response.ok) {
      // The library ends the grant itself when the judge refuses the user.
      if (stateOf(this.#context, tokenRequest) === undefined) endGrant(this.#context, tokenRequest);
      return response;
    }
    const tokens = await response.json<Record<string, unknown>>();
    const answer = JSON.stringify({ ...tokens, refresh_token: successor.token });
    await this.#replays.keepBeside(tokenRequest.hash, rest, answer);
    this.#note(tokenRequest);
    await tellIssued(this.#context, tokenRequest);
    return tokenResponse(answer);
  }

  #note({ user, grant, form }: GrantTokenRequest): void {
    const { grants, audit } = this.#context;
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
    const { audit, grants } = this.#context;
    // A client that does not know its own client id has not shown that the token was copied.
    const isTheirs =
      before?.client === form.clientId && grants.retired.has(rowOf(tokenRequest), hash);
    if (isTheirs && (await errorOf(response)) === "invalid_grant") {
      endGrant(this.#context, tokenRequest);
      audit.append(user, "refresh_reuse", { client: form.clientId });
    } else if (before !== undefined && stateOf(this.#context, tokenRequest) === undefined) {
      // The library ends the grant itself when the judge refuses the user.
      endGrant(this.#context, tokenRequest);
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
    // A token that another request has replaced since is not an answer.
    if (answer?.refreshToken !== this.#replays.newest(tokenRequest.hash)?.hash) return undefined;
    if (answer === undefined || state?.refreshTokens.includes(answer.refreshToken) !== true) {
      return undefined;
    }
    const { rows, isServed } = this.#context;
    const isLive =
      hasAccessToken(rows, tokenRequest, answer.accessToken) && (await isServed(tokenRequest));
    return isLive ? answer.body : undefined;
  }
}

/**
 * @returns a digest of the refresh beside its token: the client, its secret, and the parameters.
 */
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
