/**
 * The token endpoint where the grants are: requests for one grant are answered one after the
 * other, so a code is redeemed once, and of many who refresh together all get the same new token.
 * The library reads, computes and writes, and others would come in between.
 */

import { readText } from "../../lib/read-text.ts";
import { withReason } from "../doctor/token-reasons.ts";
import { tokenHash } from "./grant-state.ts";
import { CodeRedemption } from "./redeem-code.ts";
import { refusalReason } from "./refusal-reason.ts";
import { TokenRefresh } from "./refresh-token.ts";
import { revokeToken } from "./revoke-token.ts";
import { readTokenForm } from "./token-form.ts";
import { type Desk, rowOf, stateOf, type Visit } from "./visit.ts";

/** More than whoever checked the request let through. */
const MAX_BYTES = 64 * 1024;

export class TokenDesk {
  readonly #desk: Desk;
  readonly #redemption: CodeRedemption;
  readonly #refresh: TokenRefresh;
  /** The last one in the line for each grant. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#redemption = new CodeRedemption(desk);
    this.#refresh = new TokenRefresh(desk);
  }

  /** @param request a POST with a form, which was checked by whoever passes it on. */
  async answer(request: Request): Promise<Response> {
    const params = new URLSearchParams(await readText(request.clone().body, MAX_BYTES));
    const form = readTokenForm(params, request.headers);
    const { subject, credential, grantType } = form;
    if (subject === undefined) return this.#desk.answer(request);
    const visit: Visit = { ...subject, request, form, hash: await tokenHash(credential) };
    return this.#inLine(rowOf(visit), () => {
      if (grantType === "authorization_code") {
        return this.#explained(visit, params, () => this.#redemption.answer(visit));
      }
      if (grantType === "refresh_token") {
        return this.#explained(visit, params, () => this.#refresh.answer(visit, params));
      }
      return revokeToken(this.#desk, visit);
    });
  }

  /** Says with a refusal why it is one, for the login doctor: afterwards the grant may be gone. */
  async #explained(
    visit: Visit,
    params: URLSearchParams,
    answer: () => Promise<Response>,
  ): Promise<Response> {
    const { grants, judgedOf } = this.#desk;
    const wasRetired = grants.retired.has(rowOf(visit), visit.hash);
    const before = { state: stateOf(this.#desk, visit), wasRetired };
    const response = await answer();
    const judged = judgedOf(visit.grant);
    if (response.ok) return response;
    const reason = judged ?? (await refusalReason(visit, params, before, Date.now()));
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
