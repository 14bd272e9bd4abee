/**
 * The parked calls in storage: a row of facts for each, and its texts, which are the questions of each
 * round, the last answers and the reply. The tables are made with the first row, and their names end
 * in the number of their layout: a later layout is another table.
 */

import { cutIntoRows } from "../../lib/cut-into-rows.ts";
import { parseLossless } from "../../lib/lossless-json.ts";
import type { Sql } from "../../lib/sql.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { isResumable } from "../../upstream/legacy/resume-token.ts";
import type { Questions } from "./open-questions.ts";

const CALLS = "parked_calls_1";
const TEXTS = "parked_texts_1";
/** Rows that a text has room for. */
const TEXT_ROWS = 2 ** 16;
/** Texts that a call has room for: its reply, its rounds, and the last answers. */
const CALL_TEXTS = 2 ** 7;
const END = 0;
const ANSWERS = CALL_TEXTS - 1;

export interface ParkedCall {
  readonly exchange: string;
  /** The last round that was asked. */
  readonly round: number;
  /** The answers to the last round were taken. */
  readonly isAnswered: boolean;
  /** The server's session in which the call runs. */
  readonly sessionId?: string;
  /** The client that sent those answers has been given time once more (`postpone`). */
  readonly isPostponed?: true;
  /** Its stream can be resumed after a restart of the holder. */
  readonly isResumable: boolean;
  readonly isOver: boolean;
  /** The time at which the client is no longer waited for, in milliseconds since 1970. */
  readonly due: number;
}

/** The place from which a call goes on after a restart. */
export interface CallPlace {
  /** The resume token of the server's last message. */
  readonly resumeToken: string | undefined;
  /** That of the last message on the standalone stream, where the server may ask as well. */
  readonly standaloneToken?: string | undefined;
}

/** The state of a call after a round of questions, from which it goes on after a restart. */
export interface Parked extends CallPlace {
  /** From 1 on. */
  readonly round: number;
  readonly questions: Questions;
  /** The resume token that answers each question; a question may have none. */
  readonly questionTokens: Readonly<Record<string, string>>;
  /** The number of keys given to questions so far. */
  readonly asked: number;
  /** The replies to earlier questions that the server may not have yet, by the resume tokens of these. */
  readonly undelivered?: Readonly<Record<string, Reply>>;
}

/** RoundAnswers by the keys of their questions. */
export type RoundAnswers = Readonly<Record<string, JsonObject>>;

/** A round as it is stored. */
interface StoredRound extends Omit<Parked, "questionTokens" | "resumeToken"> {
  readonly tickets: Parked["questionTokens"];
  readonly ticket?: string | undefined;
}

interface Stay {
  readonly due: number;
  readonly sessionId: string | undefined;
}

interface Known extends ParkedCall {
  readonly id: number;
}

type Row = { id: number; due: number; is_over: number; facts: string };

export class ParkedCalls {
  readonly #sql: Sql;
  /** In the order of their first rounds. */
  readonly #known = new Map<string, Known>();
  #exists: boolean;
  #isEmptied = false;
  #lastId = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = [...sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", CALLS)].length > 0;
    if (!this.#exists) return;
    for (const row of sql.exec<Row>(`SELECT id, due, is_over, facts FROM ${CALLS} ORDER BY id`)) {
      const { id, due, is_over: isOver, facts } = row;
      const call = JSON.parse(facts) as Omit<ParkedCall, "due" | "isOver">;
      this.#known.set(call.exchange, { ...call, id, due, isOver: isOver !== 0 });
      this.#lastId = id;
    }
  }

  get all(): readonly ParkedCall[] {
    return [...this.#known.values()];
  }

  get(exchange: string): ParkedCall | undefined {
    return this.#known.get(exchange);
  }

  /** The storage was emptied: of calls that still run, nothing is kept any more. */
  emptied(): void {
    this.#known.clear();
    this.#isEmptied = true;
  }

  /** Stores a round that has no answers yet. */
  park(exchange: string, parked: Parked, { due, sessionId }: Stay): void {
    if (this.#isEmptied) return;
    this.#create();
    const id = this.#known.get(exchange)?.id ?? ++this.#lastId;
    const { round, questions, questionTokens: tickets, resumeToken: ticket, ...rest } = parked;
    const session = sessionId === undefined ? {} : { sessionId };
    const stored: StoredRound = { round, questions, tickets, ticket, ...rest };
    this.#write(id, round, JSON.stringify(stored));
    this.#save({
      id,
      exchange,
      round,
      due,
      ...session,
      isOver: false,
      isAnswered: false,
      isResumable: isResumable(parked.resumeToken),
    });
  }

  /**
   * Stores answers to the last round, before they are sent to the server. They join those that were taken in an earlier
   * life, since each is taken once.
   */
  answer(exchange: string, given: RoundAnswers, due: number): void {
    const before = this.#known.get(exchange);
    if (before === undefined) return;
    const { isPostponed: _, ...known } = before;
    this.#write(known.id, ANSWERS, JSON.stringify({ ...this.answers(exchange), ...given }));
    this.#save({ ...known, isAnswered: true, due });
  }

  /**
   * Sets a later time until which the client is waited for, once after each of its answers: if each life of the holder
   * set it, a client that does not come back would be waited for in all of them.
   */
  postpone(exchange: string, due: number): void {
    const known = this.#known.get(exchange);
    if (known === undefined || known.isPostponed === true) return;
    this.#save({ ...known, due, isPostponed: true });
  }

  /** Stores the reply of a call. */
  end(exchange: string, reply: Reply, due: number): void {
    const known = this.#known.get(exchange);
    if (known === undefined) return;
    this.#write(known.id, END, JSON.stringify(reply));
    this.#save({ ...known, isOver: true, due });
  }

  /** The questions, round by round. */
  rounds(exchange: string): readonly Parked[] {
    const known = this.#known.get(exchange);
    if (known === undefined) return [];
    return Array.from({ length: known.round }, (_, index) => this.#parkedAt(known.id, index + 1));
  }

  /** The answers to the last round. */
  answers(exchange: string): RoundAnswers {
    const known = this.#known.get(exchange);
    return known?.isAnswered === true
      ? (parseLossless(this.#read(known.id, ANSWERS)) as RoundAnswers)
      : {};
  }

  reply(exchange: string): Reply | undefined {
    const known = this.#known.get(exchange);
    if (known?.isOver !== true) return undefined;
    return parseLossless(this.#read(known.id, END)) as Reply;
  }

  drop(exchange: string): void {
    const known = this.#known.get(exchange);
    if (known === undefined) return;
    this.#known.delete(exchange);
    const { id } = known;
    this.#sql.exec(`DELETE FROM ${CALLS} WHERE id = ?`, id);
    const [from, to] = [rowId(id, 0, 0), rowId(id + 1, 0, 0)];
    this.#sql.exec(`DELETE FROM ${TEXTS} WHERE id >= ? AND id < ?`, from, to);
  }

  #parkedAt(id: number, round: number): Parked {
    const { tickets, ticket, ...rest } = parseLossless(this.#read(id, round)) as StoredRound;
    return { ...rest, questionTokens: tickets, resumeToken: ticket };
  }

  #create(): void {
    if (this.#exists) return;
    this.#sql.exec(`CREATE TABLE ${CALLS} (
      id INTEGER PRIMARY KEY, due INTEGER NOT NULL, is_over INTEGER NOT NULL, facts TEXT NOT NULL)`);
    this.#sql.exec(`CREATE TABLE ${TEXTS} (id INTEGER PRIMARY KEY, data TEXT NOT NULL)`);
    this.#exists = true;
  }

  #save(known: Known): void {
    const { id, due, isOver, ...facts } = known;
    this.#known.set(known.exchange, known);
    this.#sql.exec(
      `INSERT OR REPLACE INTO ${CALLS} (id, due, is_over, facts) VALUES (?, ?, ?, ?)`,
      id,
      due,
      isOver ? 1 : 0,
      JSON.stringify(facts),
    );
  }

  #write(id: number, text: number, value: string): void {
    // Parts of an earlier text that was not written whole may be left.
    const [from, to] = [rowId(id, text, 0), rowId(id, text, TEXT_ROWS - 1)];
    this.#sql.exec(`DELETE FROM ${TEXTS} WHERE id BETWEEN ? AND ?`, from, to);
    for (const [part, data] of cutIntoRows(value).entries()) {
      const query = `INSERT OR REPLACE INTO ${TEXTS} (id, data) VALUES (?, ?)`;
      this.#sql.exec(query, rowId(id, text, part), data);
    }
  }

  #read(id: number, text: number): string {
    const query = `SELECT data FROM ${TEXTS} WHERE id BETWEEN ? AND ? ORDER BY id`;
    const [from, to] = [rowId(id, text, 0), rowId(id, text, TEXT_ROWS - 1)];
    return Array.from(this.#sql.exec<{ data: string }>(query, from, to), ({ data }) => data).join(
      "",
    );
  }
}

function rowId(call: number, text: number, part: number): number {
  return (call * CALL_TEXTS + text) * TEXT_ROWS + part;
}
