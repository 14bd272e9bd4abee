/**
 * The recent answers to refreshes. Processes that share a token refresh it at once, and a client
 * repeats a request whose answer was lost: each gets the same new token. An object that nobody calls
 * sleeps after some ten seconds, so the answers are stored. They are live tokens: a row is found by
 * the hash of the refresh token that was presented, and is sealed with a key that is derived from
 * it, so the object cannot open the row before that token is presented again.
 */

import { handleKeyring } from "../../../lib/handle-keyring.ts";
import { Records } from "../../../lib/records.ts";
import { seal, unseal } from "../../../lib/seal.ts";
import { tokenHash } from "./grant-record.ts";

export interface RefreshToken {
  readonly token: string;
  readonly hash: string;
}

/** What a refresh token has led to by now. */
export interface Replay {
  /** The newest refresh token: the one in the first answer may have been replaced itself. */
  readonly newest: RefreshToken;
  /** The answer with that token, unless it was to a request with other parameters. */
  readonly answer?: RefreshAnswer;
}

export interface RefreshAnswer {
  readonly body: string;
  /** The hash of the access token in it. */
  readonly accessToken: string;
}

const CONTEXT = "edgeway/auth/refresh-answer/1";
const PURPOSE = "refresh-answer";
/** Each is decrypted, and all users of the object wait: a program that refreshes in a loop makes many. */
const MAX_LINKS = 100;

export class RefreshReplays extends Records {
  /** `rest` is a digest of all other parameters, so that no client gets the answer of another. */
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS refresh_answers_1 (
      token TEXT NOT NULL, rest TEXT NOT NULL, sealed TEXT NOT NULL, expires INTEGER NOT NULL,
      PRIMARY KEY (token, rest)
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS refresh_answers_1_expires ON refresh_answers_1 (expires)",
  ];

  /** Follows the refreshes that a token began a moment ago: each answer opens the next one. */
  async find(presented: RefreshToken, rest: string): Promise<Replay | undefined> {
    let found: Replay | undefined;
    let token = presented;
    for (let link = 0; link < MAX_LINKS; link++) {
      const row = this.row<{ rest: string; sealed: string }>(
        `SELECT rest, sealed FROM refresh_answers_1 WHERE token = ? AND expires > ?
         ORDER BY rest = ? DESC LIMIT 1`,
        [token.hash, this.now(), rest],
      );
      if (row === undefined) return found;
      const body = await unseal(await handleKeyring(CONTEXT, token.token), PURPOSE, row.sealed);
      if (typeof body !== "string") throw new Error("An answer does not open with its own token");
      const { refresh_token: newest, access_token: accessToken } = JSON.parse(body) as Tokens;
      token = { token: newest, hash: await tokenHash(newest) };
      const answer = row.rest === rest && { body, accessToken: await tokenHash(accessToken) };
      found = { newest: token, ...(answer !== false && { answer }) };
    }
    return found;
  }

  /**
   * @param body the body of the answer that replaced the token.
   * @param keptMs the time for which the token gets that answer again.
   */
  async keep(presented: RefreshToken, rest: string, body: string, keptMs: number): Promise<void> {
    const sealed = await sealedBy(presented, body);
    // A program that refreshes in a loop would fill the table before the next sweep.
    this.sweep();
    this.run(
      "INSERT OR REPLACE INTO refresh_answers_1 (token, rest, sealed, expires) VALUES (?, ?, ?, ?)",
      [presented.hash, rest, sealed, this.now() + keptMs],
    );
  }

  /**
   * @param body the body of an answer with an existing refresh token. The window of the presented
   *   token begins when it was replaced: presenting it again opens no further window.
   */
  async keepBeside(presented: RefreshToken, rest: string, body: string): Promise<void> {
    const sealed = await sealedBy(presented, body);
    this.run(
      `INSERT OR REPLACE INTO refresh_answers_1 (token, rest, sealed, expires)
       SELECT token, ?, ?, expires FROM refresh_answers_1 WHERE token = ? LIMIT 1`,
      [rest, sealed, presented.hash],
    );
  }

  /** Deletes expired rows. */
  sweep(): void {
    this.run("DELETE FROM refresh_answers_1 WHERE expires <= ?", [this.now()]);
  }
}

async function sealedBy({ token }: RefreshToken, body: string): Promise<string> {
  return seal(await handleKeyring(CONTEXT, token), PURPOSE, body);
}

/** The members of the library's response that are read here (RFC 6749 section 5.1). */
interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
