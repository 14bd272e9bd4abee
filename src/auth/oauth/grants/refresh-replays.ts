/**
 * The recent answers to refreshes. Processes that share a token refresh it at once, and a client
 * repeats a request whose answer was lost: each gets the same new token. These are live tokens, so
 * they are in memory only; when they are lost with it, the library's own grace period remains.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { tokenHash } from "./grant-record.ts";

export interface RefreshAnswer {
  readonly body: string;
  /** The hashes of the tokens in the answer. */
  readonly refreshToken: string;
  readonly accessToken: string;
}

/** A refresh token that replaced another one. */
export interface Successor {
  readonly token: string;
  readonly hash: string;
}

const MAX_ANSWERS = 10_000;

export class RefreshReplays {
  readonly #answers: BoundedCache<RefreshAnswer>;
  /** By the hash of the replaced token, whatever else the request contained. */
  readonly #successors: BoundedCache<Successor>;

  constructor(ttlMs: number) {
    this.#answers = new BoundedCache({ maxEntries: MAX_ANSWERS, ttlMs });
    this.#successors = new BoundedCache({ maxEntries: MAX_ANSWERS, ttlMs });
  }

  /**
   * The newest tokens that a refresh token led to: the answer may have been refreshed itself by
   * now, and a replaced token is of no use to a later request.
   *
   * @param token the hash of the refresh token that is presented.
   * @param rest a digest of all other parameters, so that no client gets the answer of another.
   */
  find(token: string, rest: string): RefreshAnswer | undefined {
    const answer = this.#answers.get(`${token} ${rest}`);
    return answer === undefined ? undefined : (this.find(answer.refreshToken, rest) ?? answer);
  }

  /** The newest refresh token of the chain that a token began a moment ago. */
  newest(token: string): Successor | undefined {
    const successor = this.#successors.get(token);
    return successor === undefined ? undefined : (this.newest(successor.hash) ?? successor);
  }

  /** @param body the body of the answer that replaced the token. */
  async keep(token: string, rest: string, body: string): Promise<void> {
    this.#successors.set(token, await this.keepBeside(token, rest, body));
  }

  /**
   * @param body the body of an answer with an existing refresh token. The window of the presented
   *   token begins when it was replaced: presenting it again opens no further window.
   */
  async keepBeside(token: string, rest: string, body: string): Promise<Successor> {
    const { refresh_token: newest, access_token: accessToken } = JSON.parse(body) as Tokens;
    const hash = await tokenHash(newest);
    const answer = { body, refreshToken: hash, accessToken: await tokenHash(accessToken) };
    this.#answers.set(`${token} ${rest}`, answer);
    return { token: newest, hash };
  }
}

/** The members of the library's response that are read here (RFC 6749 section 5.1). */
interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
