/**
 * The client's answers to questions of servers, each under the row id of the question's event. An
 * answer is kept until the server has it, so that an accepted answer survives the loss of the session's
 * object. Afterwards an empty row shows that the question was answered, as long as its event is kept.
 */

import type { Sql, SqlValue } from "../../lib/sql.ts";
import { cutIntoRows } from "../../lib/cut-into-rows.ts";

const TABLE = "answers_1";

export interface KeptAnswer {
  /** The row id of the question's event. */
  readonly question: number;
  /** Finds the server that asked; opaque here. */
  readonly resumeToken: string;
  readonly reply: string;
}

interface StoredPart extends Record<string, SqlValue> {
  readonly question: number;
  readonly ticket: string;
  readonly reply: string;
}

export class Answers {
  readonly #sql: Sql;
  /** Looked up when it is first needed: most sessions get no question. */
  #isThere: boolean | undefined;
  #isClosed = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  has(question: number): boolean {
    if (!this.#exists) return false;
    const query = `SELECT 1 FROM ${TABLE} WHERE question = ? LIMIT 1`;
    return [...this.#sql.exec(query, question)].length > 0;
  }

  /** Keeps an answer. The first one creates the table. */
  keep({ question, resumeToken, reply }: KeptAnswer): void {
    if (this.#isClosed) return;
    if (!this.#exists) {
      this.#sql.exec(`CREATE TABLE ${TABLE} (
        question INTEGER, part INTEGER, ticket TEXT NOT NULL, reply TEXT NOT NULL,
        PRIMARY KEY (question, part)) WITHOUT ROWID`);
      this.#isThere = true;
    }
    for (const [part, text] of cutIntoRows(reply).entries()) {
      const query = `INSERT INTO ${TABLE} VALUES (?, ?, ?, ?)`;
      this.#sql.exec(query, question, part, part === 0 ? resumeToken : "", text);
    }
  }

  /** Empties an answer that the server has: only the fact that there was one is still needed. */
  delivered(question: number): void {
    if (!this.#exists) return;
    this.#sql.exec(`DELETE FROM ${TABLE} WHERE question = ? AND part > 0`, question);
    this.#sql.exec(`UPDATE ${TABLE} SET reply = '' WHERE question = ?`, question);
  }

  /** The answers that the servers may not have, in the order of the questions. */
  kept(): KeptAnswer[] {
    if (!this.#exists) return [];
    const kept: { question: number; resumeToken: string; reply: string }[] = [];
    const query = `SELECT question, ticket, reply FROM ${TABLE} WHERE reply != '' ORDER BY question, part`;
    for (const { question, ticket: resumeToken, reply } of this.#sql.exec<StoredPart>(query)) {
      const last = kept.at(-1);
      if (last?.question === question) last.reply += reply;
      else kept.push({ question, resumeToken, reply });
    }
    return kept;
  }

  /** Deletes the answers to a range of questions, both ends included. */
  delete(from: number, to: number): void {
    if (!this.#exists) return;
    this.#sql.exec(`DELETE FROM ${TABLE} WHERE question BETWEEN ? AND ?`, from, to);
  }

  /** Stops all writes: the table is deleted and must not be created again. */
  close(): void {
    this.#isThere = false;
    this.#isClosed = true;
  }

  get #exists(): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE name = ?";
    this.#isThere ??= [...this.#sql.exec(query, TABLE)].length > 0;
    return this.#isThere;
  }
}
