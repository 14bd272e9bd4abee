/**
 * Exchanges an authorization code for tokens. The queue of the grant makes that happen once; this
 * class handles a code that is presented again, and one whose verifier is being guessed.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import {
  type GrantTokenContext,
  endGrant,
  errorOf,
  rowOf,
  stateOf,
  tellIssued,
  type GrantTokenRequest,
} from "./grant-token-request.ts";

/**
 * A verifier has 256 bits; a client that needs more tries is guessing the verifier of a stolen
 * code.
 */
const MAX_WRONG_TRIES = 5;
const PENDING_MS = 600_000;

export class CodeRedemption {
  readonly #context: GrantTokenContext;
  readonly #wrongTries = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: PENDING_MS });

  constructor(grantContext: GrantTokenContext) {
    this.#context = grantContext;
  }

  async answer(tokenRequest: GrantTokenRequest): Promise<Response> {
    const { grants, audit, keptGrants, onEnded } = this.#context;
    const { user, grant, form } = tokenRequest;
    const before = stateOf(this.#context, tokenRequest);
    const response = await this.#context.answer(tokenRequest.request);
    const redeemed = response.ok ? grants.find(user, grant) : undefined;
    if (redeemed !== undefined) {
      audit.append(user, "grant_created", { application: redeemed.name, client: form.clientId });
      onEnded(grants.prune(user, redeemed, keptGrants));
      await tellIssued(this.#context, tokenRequest);
    } else if (before !== undefined && stateOf(this.#context, tokenRequest) === undefined) {
      // A code that is presented twice ends its grant (RFC 6749 section 4.1.2). A grant that ended
      // before its code was redeemed ended because its user may not sign in any more.
      endGrant(this.#context, tokenRequest);
      if (!before.isPending) audit.append(user, "code_reuse", { client: form.clientId });
    } else if (before?.isPending === true && before.code === tokenRequest.hash) {
      await this.#countWrongTry(tokenRequest, response);
    }
    return response;
  }

  /**
   * Counts the tries of a client that has the code, but not its verifier. Without the code itself
   * nothing is counted.
   */
  async #countWrongTry(tokenRequest: GrantTokenRequest, response: Response): Promise<void> {
    if ((await errorOf(response)) !== "invalid_grant") return;
    const tries = (this.#wrongTries.get(rowOf(tokenRequest)) ?? 0) + 1;
    this.#wrongTries.set(rowOf(tokenRequest), tries);
    if (tries < MAX_WRONG_TRIES) return;
    endGrant(this.#context, tokenRequest);
    const reason = "somebody has the code and guesses at the rest";
    this.#context.audit.append(tokenRequest.user, "denied", {
      reason,
      client: tokenRequest.form.clientId,
    });
  }
}
