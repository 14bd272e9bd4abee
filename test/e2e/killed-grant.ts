/**
 * A grant as its application knows it: what it has sent, and what it was answered. That is all that
 * counts when the gateway is killed, and it says what there has to be when it is back.
 */

import {
  type Gateway,
  type Parameters,
  requestToken,
  type Tokens,
} from "../support/oauth-requests.ts";
import { answered, statusWith } from "./killed-answers.ts";

/** The outcome of a request that changes something. It is unknown when the request was sent and not answered. */
type Progress = "not sent" | "sent" | "answered";

/** What redeems a code. */
export interface Exchange extends Parameters {
  readonly client_id: string;
  readonly code: string;
}

export class KilledGrant {
  /** For the reader of a failure. */
  readonly name: string;
  readonly id: string;
  redemption: Progress = "not sent";
  revocation: Progress = "not sent";
  /** Whether the newest refresh token was sent, and no answer came. */
  isSpent = false;
  readonly #gateway: Gateway;
  readonly #exchange: Exchange;
  /** Oldest first. */
  readonly #tokens: Tokens[] = [];
  /** What the newest were refreshed with. */
  #before: Tokens | undefined;

  constructor(gateway: Gateway, name: string, exchange: Exchange) {
    this.#gateway = gateway;
    this.#exchange = exchange;
    this.name = name;
    this.id = exchange.code.split(":")[1] ?? "";
  }

  get #newest(): Tokens {
    const newest = this.#tokens.at(-1);
    if (newest === undefined) throw new Error(`${this.name} has no tokens`);
    return newest;
  }

  async redeem(): Promise<void> {
    this.redemption = "sent";
    this.#keep(await this.#ask(this.#exchange));
    this.redemption = "answered";
  }

  async refresh(): Promise<void> {
    const before = this.#newest;
    this.isSpent = true;
    this.#keep(await this.#refresh(before), before);
    this.isSpent = false;
  }

  /** RFC 7009. */
  async revoke(): Promise<void> {
    this.revocation = "sent";
    const { client_id } = this.#exchange;
    const answer = await this.#ask({ client_id, token: this.#newest.refresh_token });
    if (answer.status !== 200) throw new Error(`${this.name}: not revoked: ${answer.body}`);
    this.revocation = "answered";
  }

  /**
   * @param isOneBehind as if the answer to the last refresh had been lost.
   * @returns what is not as it was said to be, now that the gateway is back.
   */
  async findings(isOneBehind: boolean): Promise<readonly string[]> {
    if (this.revocation === "sent") await this.revoke();
    if (this.revocation === "answered") return this.#findingsOfEnd("its revocation was answered");
    if (this.redemption !== "answered") {
      const answer = await this.#ask(this.#exchange);
      // It may have been redeemed without an answer; then this was the second time, and the end.
      if (this.redemption === "sent" && answer.status === 400) {
        this.revocation = "answered";
        return [];
      }
      this.redemption = "answered";
      if (answer.status !== 200) return [`${this.name}: a code that is good: ${answer.body}`];
      this.#keep(answer);
    }
    const sent = (isOneBehind && !this.isSpent ? this.#before : undefined) ?? this.#newest;
    const answer = await this.#refresh(sent);
    this.isSpent = false;
    if (answer.status !== 200) {
      const which = sent === this.#newest ? "the newest refresh token" : "the one before";
      return [`${this.name}: ${which}: ${answer.body}`];
    }
    this.#keep(answer, sent);
    return this.#findingsOfAccess(200, "it was given");
  }

  /** A code that comes a second time is refused, and ends what it was redeemed for. */
  async findingsOfReplay(): Promise<readonly string[]> {
    const { status } = await this.#ask(this.#exchange);
    this.revocation = "answered";
    if (status !== 400) return [`${this.name}: its code was redeemed once more: ${status}`];
    return this.#findingsOfEnd("its code came a second time");
  }

  /** So does a refresh token that was replaced, and whose successor was used. */
  async findingsOfTheft(): Promise<readonly string[]> {
    const [stolen, , , ...newer] = this.#tokens;
    // Of fewer, the oldest may still be the one before.
    if (stolen === undefined || newer.length === 0) return [];
    const { status } = await this.#refresh(stolen);
    this.revocation = "answered";
    if (status !== 400) return [`${this.name}: an old refresh token: ${status}`];
    return this.#findingsOfEnd("an old refresh token came back");
  }

  async #findingsOfEnd(why: string): Promise<readonly string[]> {
    const { status } = await this.#refresh(this.#newest);
    const lives = status === 200 ? [`${this.name} can be refreshed, though ${why}`] : [];
    return [...lives, ...(await this.#findingsOfAccess(401, why))];
  }

  async #findingsOfAccess(expected: number, why: string): Promise<readonly string[]> {
    const tokens = this.#tokens.map(({ access_token }) => access_token);
    const statuses = await Promise.all(tokens.map((token) => statusWith(this.#gateway, token)));
    return statuses.flatMap((status, index) =>
      status === expected ? [] : [`${this.name}: access token ${index}: ${status}, though ${why}`],
    );
  }

  #refresh({ refresh_token }: Tokens): Promise<Answer> {
    const { client_id } = this.#exchange;
    return this.#ask({ grant_type: "refresh_token", client_id, refresh_token });
  }

  #keep({ status, body }: Answer, before?: Tokens): void {
    if (status !== 200) throw new Error(`${this.name}: no tokens: ${body}`);
    this.#tokens.push(JSON.parse(body) as Tokens);
    this.#before = before;
  }

  async #ask(parameters: Parameters): Promise<Answer> {
    return answered(async () => {
      const response = await requestToken(this.#gateway, parameters);
      return { status: response.status, body: await response.text() };
    });
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}
