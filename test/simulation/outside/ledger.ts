/**
 * The model: what was sent, what ran and what arrived, written down by those outside, and the rules that hold
 * between them. Nothing here knows how the gateway works.
 */

import type { Connection } from "../platform/network.ts";
import type { Json } from "./actor.ts";
import type { Belonging } from "./belongings.ts";
import { ChangeLedger } from "./changes.ts";
import { isWithdrawnInVain, type Question, questionNamed, questionOf } from "./question.ts";
import type { QuotaModel } from "./quotas.ts";

/** How a call ended for its client. */
export type End =
  | "result"
  /** One error in the place of the result. */
  | "error"
  /** A tool's error that the gateway made: what its server asks for is more than the client has. */
  | "refused"
  /** The client cannot know: its connection broke before it learned how to resume. */
  | "unknown"
  /** The client has cancelled it. */
  | "cancelled";

/** Its client waits no more, though it may go on. */
export function isGivenUp(end: End | undefined): boolean {
  return end === "unknown" || end === "cancelled";
}

export interface Call {
  readonly name: string;
  readonly client: string;
  readonly server: string;
  /** The client can take up a stream that broke. */
  readonly canResume: boolean;
  /** The server can be asked for the rest of a stream, and forgets nothing. */
  readonly isKept: boolean;
  startedAt: number;
  /** When its client first knew of an end. */
  endedAt?: number;
  /** How often the server ran it. */
  runs: number;
  /** On which the server got it. */
  connection?: Connection | undefined;
  /** What the server sent before its answer, in order. */
  readonly sent: string[];
  /** What the server sent again by itself, each time that it did. */
  readonly repeated: string[];
  readonly arrived: string[];
  readonly ends: End[];
  error?: string;
  /** Its server has sent the result. */
  hasAnswered: boolean;
}

/** The most that the gateway needs to write down where a server's stream is taken up. */
const WRITING_MS = 10;
/** Every isolate serves a server that was added within ten seconds. */
const KNOWN_AFTER_MS = 15_000;

export class Ledger {
  readonly calls = new Map<string, Call>();
  readonly questions = new Map<string, Question>();
  readonly findings: string[] = [];
  readonly changes: ChangeLedger;
  readonly belongings: Belonging[] = [];
  /** The account whose credential came on a connection, and the one that each client has. */
  readonly owners: {
    readonly came: WeakMap<Connection, string>;
    readonly of: Map<string, string>;
  } = {
    came: new WeakMap(),
    of: new Map(),
  };
  /** When operators have added a server, in milliseconds since 1970; those alone that are there. */
  readonly thereSince = new Map<string, number>();
  /** When objects and machines died, in milliseconds since 1970. */
  readonly deaths: number[] = [];
  /** Where the limits of what a session keeps are small. */
  quotas?: QuotaModel;
  readonly #now: () => number;
  readonly #writingMs: number;

  /**
   * @param now in milliseconds.
   * @param slowMs how much longer anything may take.
   */
  constructor(now: () => number, slowMs = 0) {
    this.#now = now;
    this.#writingMs = WRITING_MS + 3 * slowMs;
    this.changes = new ChangeLedger((finding) => this.find(finding), now, {
      slowMs: this.#writingMs,
      isSlow: slowMs > 0,
    });
  }

  hasClockJumped = false;

  /** Something broke. @param what its name, and of what went with it. */
  broke(kind: string, what: readonly string[]): void {
    const breaksSession = what.some((name) => /^(?:SessionObject|Worker|client.*GET)/.test(name));
    if (breaksSession) this.changes.gap("session");
    this.hasClockJumped ||= kind === "clock";
    if (kind === "cut-client") return;
    if (
      kind === "cut-inside" ||
      kind === "clock" ||
      what.some((name) => /^(?:FeedObject|ConnectorObject|laptop|server)/.test(name))
    )
      this.changes.gap("every");
    else if (what.some((name) => /^(?:FanOutObject|Worker)/.test(name)))
      this.changes.gap("listening");
    if (kind !== "sleep" && what.some((name) => name.startsWith("FanOutObject")))
      this.changes.gap("fan-out");
  }

  /** A client has something that is of use to it alone. */
  has(belonging: Belonging): void {
    this.belongings.push(belonging);
  }

  begin(call: Omit<Call, "runs" | "sent" | "repeated" | "arrived" | "ends" | "hasAnswered">): Call {
    const noted: Call = {
      ...call,
      runs: 0,
      sent: [],
      repeated: [],
      arrived: [],
      ends: [],
      hasAnswered: false,
    };
    this.calls.set(call.name, noted);
    this.changes.called(call.client);
    return noted;
  }

  find(finding: string): void {
    this.findings.push(finding);
  }

  /** @param came the account of the call; without one, that of its connection. */
  ran(
    name: string,
    connection: Connection | undefined,
    came = connection && this.owners.came.get(connection),
  ): void {
    const call = this.calls.get(name);
    if (call === undefined) this.find(`a server was sent the call ${name}, which nobody made`);
    else {
      call.connection = connection;
      const owner = this.owners.of.get(call.client);
      if (came !== owner) this.find(`${name} of ${owner} came with the account of ${came}`);
      call.runs += 1;
      if (call.runs > 1) this.find(`${name} ran ${call.runs} times`);
    }
  }

  /** A client of 2026-07-28 sends a round again, whose events it may get again. */
  attempt(name: string): void {
    this.calls.get(name)?.arrived.splice(0);
  }

  /** A server got a call of a tool that it does not have, which may be another server's. */
  misdirected(server: string, { params }: Json): void {
    const { name } = params as { readonly name: string };
    const since = this.thereSince.get(name.split("__")[0] ?? "");
    if (since === undefined || this.#now() - since < KNOWN_AFTER_MS) return;
    this.find(`${server} got a call of ${name}`);
  }

  sent(name: string, text: string): void {
    this.calls.get(name)?.sent.push(text);
  }

  sentResult(name: string): void {
    const call = this.calls.get(name);
    if (call !== undefined) call.hasAnswered = true;
  }

  /** A server broke the rules: it sent an event again. */
  sentAgain(text: string): void {
    if (text.endsWith("?")) this.question(text).isRepeated = true;
    else this.calls.get(text.split("/")[0] ?? "")?.repeated.push(text);
  }

  /** A client got an event on the stream of one of its calls. */
  arrived(client: string, text: string): void {
    const [name = ""] = text.split("/");
    const call = this.calls.get(name);
    if (call?.client !== client) this.find(`${client} got "${text}", which belongs to ${name}`);
    else {
      // Who gave a call up, since its request broke, may still hear of it on a stream that did not.
      const isOver = call.ends.some((end) => !isGivenUp(end));
      if (isOver) this.find(`${name}: "${text}" came after the end`);
      if (!call.arrived.includes(text)) call.arrived.push(text);
      else if (!call.repeated.includes(text)) this.find(`${name}: "${text}" came twice`);
    }
  }

  /** The answer to a call arrived, which names it. */
  gotAnswer(name: string, { error, result }: Json): void {
    if (error !== undefined) {
      this.ended(name, "error", String((error as Json)["message"]));
      return;
    }
    const { content } = result as { readonly content?: readonly { readonly text: string }[] };
    const text = content?.[0]?.text;
    if ((result as Json)["isError"] === true) this.ended(name, "refused", text);
    else {
      if (text !== name) this.find(`${name} got the result "${text}"`);
      this.ended(name, "result");
    }
  }

  /** Its client has been told how the call ended, or has given it up. */
  isOver(name: string): boolean {
    return (this.calls.get(name)?.ends.length ?? 0) > 0;
  }

  ended(name: string, end: End, error?: string): void {
    const call = this.calls.get(name);
    if (call === undefined) return;
    const fault = error === undefined ? undefined : this.quotas?.fault(call, error);
    if (fault !== undefined) this.find(fault);
    call.ends.push(end);
    call.endedAt ??= this.#now();
    if (error !== undefined) call.error = error;
    if (call.ends.length > 1) this.find(`${name} ended ${call.ends.length} times`);
  }

  question(name: string): Question {
    let question = this.questions.get(name);
    if (question === undefined) {
      question = questionNamed(name);
      this.questions.set(name, question);
    }
    return question;
  }

  shown(name: string): void {
    const question = this.question(name);
    question.shown += 1;
    if (question.shown > 1 && !question.isRepeated)
      this.find(`the question ${name} was shown ${question.shown} times`);
  }

  /** A client of 2026-07-28 gets the question with each round that it does not answer. */
  shownAgain(name: string): void {
    this.question(name).shown += 1;
  }

  /** The client was sent `notifications/cancelled` for the question. */
  withdrawn(name: string): void {
    this.question(name).isWithdrawn = true;
  }

  /** The server got an answer to its question. */
  answered(name: string, answer: unknown): void {
    const text = JSON.stringify(answer);
    if (text.includes("intruded")) this.find(`${name} was answered with ${text}`);
    const answered = questionOf(answer) ?? name;
    if (answered !== name) this.find(`${name} got the answer to ${answered}`);
    const question = this.question(name);
    question.hasResult ||= (answer as Json | undefined)?.["result"] !== undefined;
    if ((question.answers += 1) > 1) this.find(`${name} was answered ${question.answers} times`);
  }

  /**
   * Checks what must be true when everything has come to rest.
   *
   * @param isCalm nothing was broken meanwhile.
   */
  close(isCalm: boolean): void {
    this.changes.close();
    for (const question of this.questions.values()) {
      if (isWithdrawnInVain(question))
        this.find(`the question ${question.name} was withdrawn, whose server has the answer`);
    }
    for (const call of this.calls.values()) {
      this.#closeCall(call);
      const [end] = call.ends;
      const isExplained = end === "error" && this.quotas?.explains(call) === true;
      if (isCalm && !isExplained && (end === "error" || end === "unknown")) {
        this.find(`${call.name}: ${end}, though nothing was broken: ${call.error ?? ""}`);
      }
    }
  }

  /** The gateway had where the server's stream can be taken up, and time to write it down. */
  #wasWrittenDown({ connection }: Call): boolean {
    const at = connection?.receivedAt;
    return (
      at !== undefined && !this.deaths.some((died) => died >= at && died <= at + this.#writingMs)
    );
  }

  #closeCall(call: Call): void {
    const { name, sent, arrived, ends } = call;
    const [end] = ends;
    if (end === undefined) {
      this.find(`${name} never ended: it stalls after ${arrived.length} of ${sent.length} events`);
      return;
    }
    const before = sent.filter((text) => arrived.includes(text));
    if (before.join("\n") !== arrived.join("\n")) this.find(`${name}: events came out of order`);
    if (end === "result") {
      if (call.runs === 0) this.find(`${name} has a result, and no server ran it`);
      const missing = sent.filter((text) => !arrived.includes(text));
      if (missing.length > 0 && call.canResume) this.find(`${name}: lost ${missing.join(", ")}`);
    }
    const question = this.questions.get(`${name}?`);
    if (question?.isAccepted === true && question.answers === 0 && end === "result") {
      this.find(
        `the answer to ${question.name} was taken, and neither arrived nor was said to be lost`,
      );
    }
    const isExplained = this.quotas?.explains(call) === true;
    const hasNoExcuse = call.isKept && call.canResume && !isExplained;
    if (end === "error" && hasNoExcuse && this.#wasWrittenDown(call)) {
      this.find(
        `${name} ended in an error, though its server keeps everything: ${call.error ?? ""}`,
      );
    }
  }
}
