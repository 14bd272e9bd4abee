/**
 * The account of a person at one server, as the person and their application know it: what they did, and what they
 * were answered. That is all that counts when the gateway is killed, and it says what there has to be when it is back.
 */

import type { Page } from "../support/oauth-browser.ts";
import type { VendorUser } from "../support/vendor/script.ts";
import type { Vendor } from "../support/vendor/vendor.ts";
import { pause, until } from "../support/until.ts";
import { answered } from "./killed-answers.ts";
import type { KilledPerson } from "./killed-people.ts";

/** Between calls of an account that rests. */
const ASK_AGAIN_MS = 250;

/** The answer to a call. */
type Outcome =
  | "ran"
  /** The person is to connect an account. */
  | "asked"
  /** The account cannot be used at the moment. */
  | "later";

export class KilledAccount {
  /** For the reader of a failure. */
  readonly name: string;
  readonly slug: string;
  readonly vendor: Vendor;
  /** The application was answered, or the person has read that the account is connected. */
  isAnswered = false;
  /** The vendor has replaced the refresh token, and its answer may have reached nobody. */
  mayBeLost = false;
  /** Its answer has reached nobody, so the person had to connect the account again. */
  isLost = false;
  readonly #person: KilledPerson;
  readonly #token: string;
  /** Where the vendor has sent the browser, which has not seen an answer. */
  #callback: string | undefined;

  constructor(person: KilledPerson, token: string, slug: string, vendor: Vendor) {
    this.#person = person;
    this.#token = token;
    this.slug = slug;
    this.vendor = vendor;
    this.name = `the account of ${person.name} at ${slug}`;
  }

  /** Whose it is at the vendor. */
  get user(): VendorUser {
    return this.#person.name as VendorUser;
  }

  /** Connects it, as a person does whose vendor's page needs one press. */
  async connect(): Promise<void> {
    const { browser } = this.#person;
    const page = await answered(() => browser.visit(`/connect/${this.slug}`));
    const away = await answered(() => browser.submit(page, { button: /^Continue to / }));
    if (away.left === undefined) throw new Error(`${this.name}: ${away.status} ${away.text}`);
    away.left.searchParams.set("user", this.user);
    const approved = await fetch(away.left, { redirect: "manual" });
    this.#callback = approved.headers.get("location") ?? "";
    const done = await answered(() => this.#return());
    if (done.status !== 200) throw new Error(`${this.name}: ${done.status} ${done.text}`);
  }

  /** The browser is back from the vendor; or once more, where no answer came. */
  async #return(): Promise<Page> {
    const page = await this.#person.browser.visit(this.#callback ?? "");
    this.#callback = undefined;
    this.isAnswered = page.status === 200;
    return page;
  }

  async use(): Promise<void> {
    const outcome = await this.call();
    if (outcome !== "ran") throw new Error(`${this.name}: ${outcome}`);
    this.isAnswered = true;
  }

  /** @throws Error for a result of somebody else's account. */
  async call(): Promise<Outcome> {
    const text = await answered(() => this.#send()).then(({ body }) => body);
    if (text.includes(`ran whoami as ${this.user}`)) return "ran";
    if (text.includes("ran whoami")) throw new Error(`${this.name} is another's: ${text}`);
    if (text.includes(`/connect/${this.slug}`)) return "asked";
    if (text.includes("try again in ")) return "later";
    throw new Error(`${this.name}: ${text}`);
  }

  async #send(): Promise<{ readonly status: number; readonly body: string }> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const response = await fetch(`${this.#person.browser.origin}/mcp/${this.slug}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        Authorization: `Bearer ${this.#token}`,
        "MCP-Protocol-Version": "2026-07-28",
        ...{ "Mcp-Method": "tools/call", "Mcp-Name": "whoami" },
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "whoami", arguments: {}, _meta },
      }),
    });
    return { status: response.status, body: await response.text() };
  }

  /**
   * Of one whose token was being refreshed.
   *
   * @param isExpired whether the server refuses the token that it had before.
   * @returns what is not as it was said to be, now that the gateway is back.
   */
  async findingsOfRefresh(isExpired: boolean): Promise<readonly string[]> {
    const { tokens } = await this.vendor.state();
    const isReplaced = tokens.some(
      ({ user, kind, state }) => user === this.user && kind === "refresh" && state !== "live",
    );
    this.mayBeLost = isReplaced && !this.isAnswered;
    const outcome = await this.call();
    const isAsSaid = outcome === "ran" || (outcome === "later" && isExpired && !this.isAnswered);
    return isAsSaid ? [] : [`${this.name}: ${outcome}`];
  }

  /** Of one that was being connected: what was not answered is done again. */
  async findingsOfConnecting(): Promise<readonly string[]> {
    if (this.#callback !== undefined) await this.#return();
    const outcome = await this.call();
    if (outcome === "asked" && !this.isAnswered) await this.connect();
    const last = await this.call();
    return last === "ran" ? [] : [`${this.name}: ${outcome}, ${last}`];
  }

  /** When its time to rest is over. */
  async findingsAtEnd(): Promise<readonly string[]> {
    let outcome = await this.call();
    const rested = async (): Promise<boolean> => {
      if (outcome === "later") await pause(ASK_AGAIN_MS);
      outcome = await this.call();
      return outcome !== "later";
    };
    if (outcome === "later") await until(rested, `${this.name} is of use`);
    if (outcome === "ran") return [];
    if (!this.mayBeLost) return [`${this.name}, whose refresh token was good: ${outcome}`];
    this.isLost = true;
    await this.connect();
    return (await this.call()) === "ran" ? [] : [`${this.name}: not connected again`];
  }

  /** @returns the reasons for which the vendor has ended what the person has granted. */
  async revocations(): Promise<readonly string[]> {
    const { families } = await this.vendor.state();
    const mine = families.filter(({ user }) => user === this.user);
    return mine.flatMap(({ revoked }) => (revoked === undefined ? [] : [revoked]));
  }
}
