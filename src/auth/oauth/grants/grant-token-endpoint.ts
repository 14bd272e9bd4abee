/**
 * The token endpoint where the grants are. Requests for one grant are answered one after the other,
 * so a code is redeemed once, and concurrent refreshes all get the same new token. The library
 * reads, computes and writes, and concurrent requests would interleave with it.
 */

import { readText } from "../../../lib/read-text.ts";
import { withReason } from "../../trace/token-reasons.ts";
import { hasAccessToken, tokenHash } from "./grant-state.ts";
import { CodeRedemption } from "./redeem-code.ts";
import { refusalReason } from "./refusal-reason.ts";
import { TokenRefresh } from "./refresh-token.ts";
import { readTokenForm } from "./token-form.ts";
import {
  type GrantTokenContext,
  endGrant,
  rowOf,
  stateOf,
  type GrantTokenRequest,
} from "./grant-token-request.ts";

/** More than the Worker lets through, which checks the request first. */
const MAX_BYTES = 64 * 1024;

export class GrantTokenEndpoint {
  readonly #context: GrantTokenContext;
  readonly #redemption: CodeRedemption;
  readonly #refresh: TokenRefresh;
  /** The last queued request for each grant. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(grantContext: GrantTokenContext) {
    this.#context = grantContext;
    this.#redemption = new CodeRedemption(grantContext);
    this.#refresh = new TokenRefresh(grantContext);
  }

  /** @param request a POST with a form, which the Worker has checked. */
  async answer(request: Request): Promise<Response> {
    const params = new URLSearchParams(await readText(request.clone().body, MAX_BYTES));
    const form = readTokenForm(params, request.headers);
    const { subject, credential, grantType } = form;
    if (subject === undefined) return this.#context.answer(request);
    const tokenRequest: GrantTokenRequest = {
      ...subject,
      request,
      form,
      hash: await tokenHash(credential),
    };
    return this.#inLine(rowOf(tokenRequest), () => {
      if (grantType === "authorization_code") {
        return this.#explained(tokenRequest, params, () => this.#redemption.answer(tokenRequest));
      }
      if (grantType === "refresh_token") {
        return this.#explained(tokenRequest, params, () =>
          this.#refresh.answer(tokenRequest, params),
        );
      }
      return revokeToken(this.#context, tokenRequest);
    });
  }

  /** Adds the reason to a refusal for the login doctor: the grant may be gone afterwards. */
  async #explained(
    tokenRequest: GrantTokenRequest,
    params: URLSearchParams,
    answer: () => Promise<Response>,
  ): Promise<Response> {
    const { grants, judgedOf } = this.#context;
    const wasRetired = grants.retired.has(rowOf(tokenRequest), tokenRequest.hash);
    const before = { state: stateOf(this.#context, tokenRequest), wasRetired };
    const response = await answer();
    const judged = judgedOf(tokenRequest.grant);
    if (response.ok) return response;
    const reason = judged ?? (await refusalReason(tokenRequest, params, before, Date.now()));
    return withReason(response, reason);
  }

  async #inLine<T>(line: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(line);
    const mine = (before ?? Promise.resolve()).then(work, work);
    this.#lines.set(line, mine);
    try {
      return await mine;
    } finally {
      if (this.#lines.get(line) === mine) this.#lines.delete(line);
    }
  }
}

/**
 * Revokes a token for its application (RFC 7009): a refresh token ends the grant and all tokens
 * that were issued under it, an access token ends alone. A token that does not exist, or is another
 * application's, changes nothing, and the response does not reveal that.
 */
async function revokeToken(
  grantContext: GrantTokenContext,
  tokenRequest: GrantTokenRequest,
): Promise<Response> {
  const { rows, audit, onEnded } = grantContext;
  const { user, grant, form, hash } = tokenRequest;
  const wasAccessToken = hasAccessToken(rows, tokenRequest, hash);
  const before = stateOf(grantContext, tokenRequest);
  const response = await grantContext.answer(tokenRequest.request);
  if (before !== undefined && stateOf(grantContext, tokenRequest) === undefined)
    endGrant(grantContext, tokenRequest);
  else if (wasAccessToken && !hasAccessToken(rows, tokenRequest, hash)) onEnded([grant]);
  else return response;
  audit.append(user, "token_revoked", { client: form.clientId });
  return response;
}
