/**
 * An authorization code for tokens. The line at the desk makes it happen once; here is what follows
 * from a code that comes again, and from one whose verifier is being guessed.
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

/** A verifier has 256 bits; who needs more tries than this is guessing at somebody else's code. */
const MAX_WRONG_TRIES = 5;
const PENDING_MS = 600_000;

export class CodeRedemption {
  readonly #desk: GrantTokenContext;
  readonly #wrongTries = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: PENDING_MS });

  constructor(grantContext: GrantTokenContext) {
    this.#desk = grantContext;
  }

  async answer(tokenRequest: GrantTokenRequest): Promise<Response> {
    const { grants, audit, keptGrants, onEnded } = this.#desk;
    const { user, grant, form } = tokenRequest;
    const before = stateOf(this.#desk, tokenRequest);
    const response = await this.#desk.answer(tokenRequest.request);
    const redeemed = response.ok ? grants.find(user, grant) : undefined;
    if (redeemed !== undefined) {
      audit.append(user, "grant_created", { application: redeemed.name, client: form.clientId });
      onEnded(grants.prune(user, redeemed, keptGrants));
      await tellIssued(this.#desk, tokenRequest);
    } else if (before !== undefined && stateOf(this.#desk, tokenRequest) === undefined) {
      // A code that comes twice ends what it was redeemed for (RFC 6749 section 4.1.2). One that
      // was not redeemed yet was ended because its user may not sign in any more.
      endGrant(this.#desk, tokenRequest);
      if (!before.isPending) audit.append(user, "code_reuse", { client: form.clientId });
    } else if (before?.isPending === true && before.code === tokenRequest.hash) {
      await this.#countWrongTry(tokenRequest, response);
    }
    return response;
  }

  /** Of who has the code, but not what belongs to it. Without the code itself nothing is counted. */
  async #countWrongTry(tokenRequest: GrantTokenRequest, response: Response): Promise<void> {
    if ((await errorOf(response)) !== "invalid_grant") return;
    const tries = (this.#wrongTries.get(rowOf(tokenRequest)) ?? 0) + 1;
    this.#wrongTries.set(rowOf(tokenRequest), tries);
    if (tries < MAX_WRONG_TRIES) return;
    endGrant(this.#desk, tokenRequest);
    const reason = "somebody has the code and guesses at the rest";
    this.#desk.audit.append(tokenRequest.user, "denied", {
      reason,
      client: tokenRequest.form.clientId,
    });
  }
}
