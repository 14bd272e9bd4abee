/**
 * What refreshes were answered a moment ago. Processes that share a token refresh it at once, and
 * an answer that gets lost is asked for again: each gets the same new token. These are live tokens,
 * so they are in memory only; when they are lost with it, the library's own grace is left.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { tryJson } from "../../../lib/try-json.ts";
import { isObject } from "../../../protocol/json-rpc.ts";
import { tokenHash } from "./grant-state.ts";

export interface RefreshAnswer {
  readonly body: string;
  /** Hashes of the tokens in it. */
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
  /** By the hash of the token that each replaced, whatever the request said beside it. */
  readonly #successors: BoundedCache<Successor>;

  constructor(ttlMs: number) {
    this.#answers = new BoundedCache({ maxEntries: MAX_ANSWERS, ttlMs });
    this.#successors = new BoundedCache({ maxEntries: MAX_ANSWERS, ttlMs });
  }

  /**
   * The newest tokens that came of a refresh token: the answer may have been refreshed itself by
   * now, and a token that was replaced is of no use to whoever comes late.
   *
   * @param token the hash of the refresh token that is presented.
   * @param rest everything else that the request says, so that nobody gets another's answer.
   */
  find(token: string, rest: string): RefreshAnswer | undefined {
    const answer = this.#answers.get(`${token} ${rest}`);
    return answer === undefined ? undefined : (this.find(answer.refreshToken, rest) ?? answer);
  }

  /** The newest refresh token of the line that a token began a moment ago. */
  newest(token: string): Successor | undefined {
    const successor = this.#successors.get(token);
    return successor === undefined ? undefined : (this.newest(successor.hash) ?? successor);
  }

  /** @param body of the answer by which the token was replaced. */
  async keep(token: string, rest: string, body: string): Promise<void> {
    const successor = await this.#keepAnswer(token, rest, body);
    if (successor !== undefined) this.#successors.set(token, successor);
  }

  /**
   * @param body of an answer that brought a refresh token that was there. The window of the token
   *   that was presented begins where it was replaced: sent again and again, it opens no other one.
   */
  async keepBeside(token: string, rest: string, body: string): Promise<void> {
    await this.#keepAnswer(token, rest, body);
  }

  async #keepAnswer(token: string, rest: string, body: string): Promise<Successor | undefined> {
    const answer = tryJson(body);
    if (!isObject(answer)) return undefined;
    const { refresh_token: refreshToken, access_token: accessToken } = answer;
    const hash = await tokenHash(String(refreshToken));
    this.#answers.set(`${token} ${rest}`, {
      body,
      refreshToken: hash,
      accessToken: await tokenHash(String(accessToken)),
    });
    return { token: String(refreshToken), hash };
  }
}
