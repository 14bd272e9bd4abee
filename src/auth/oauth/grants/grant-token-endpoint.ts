/**
 * The token endpoint where the grants are: requests for one grant are answered one after the
 * other, so a code is redeemed once, and of many who refresh together all get the same new token.
 * The library reads, computes and writes, and others would come in between.
 */

import { readText } from "../../../lib/read-text.ts";
import { withReason } from "../../trace/token-reasons.ts";
import { tokenHash } from "./grant-state.ts";
import { CodeRedemption } from "./redeem-code.ts";
import { refusalReason } from "./refusal-reason.ts";
import { TokenRefresh } from "./refresh-token.ts";
import { revokeToken } from "./revoke-token.ts";
import { readTokenForm } from "./token-form.ts";
import {
  type GrantTokenContext,
  rowOf,
  stateOf,
  type GrantTokenRequest,
} from "./grant-token-request.ts";

/** More than whoever checked the request let through. */
const MAX_BYTES = 64 * 1024;

export class GrantTokenEndpoint {
  readonly #desk: GrantTokenContext;
  readonly #redemption: CodeRedemption;
  readonly #refresh: TokenRefresh;
  /** The last one in the line for each grant. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(grantContext: GrantTokenContext) {
    this.#desk = grantContext;
    this.#redemption = new CodeRedemption(grantContext);
    this.#refresh = new TokenRefresh(grantContext);
  }

  /** @param request a POST with a form, which was checked by whoever passes it on. */
  async answer(request: Request): Promise<Response> {
    const params = new URLSearchParams(await readText(request.clone().body, MAX_BYTES));
    const form = readTokenForm(params, request.headers);
    const { subject, credential, grantType } = form;
    if (subject === undefined) return this.#desk.answer(request);
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
      return revokeToken(this.#desk, tokenRequest);
    });
  }

  /** Says with a refusal why it is one, for the login doctor: afterwards the grant may be gone. */
  async #explained(
    tokenRequest: GrantTokenRequest,
    params: URLSearchParams,
    answer: () => Promise<Response>,
  ): Promise<Response> {
    const { grants, judgedOf } = this.#desk;
    const wasRetired = grants.retired.has(rowOf(tokenRequest), tokenRequest.hash);
    const before = { state: stateOf(this.#desk, tokenRequest), wasRetired };
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
