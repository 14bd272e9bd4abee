/** A person who has connected an account, whose requests ask the vault for its credential. */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import { ORIGIN } from "./door.ts";
import { SHARED } from "./guarded.ts";
import type { Vendor } from "./vendor.ts";

export interface AccountHabits {
  /** How long the account is used, in milliseconds. */
  readonly useMs: number;
  /** The longest pause between two uses, in milliseconds. */
  readonly pauseMs: number;
  /** Requests that ask at the same time. */
  readonly atOnce: number;
  /** Ends the account now and then, so often at most, and connects it again. */
  readonly ends?: number;
}

/** The vault, as an isolate calls it. */
interface Vault {
  readonly begin: (request: Json) => Promise<{
    readonly kind: string;
    readonly url: string;
    readonly cookie: { readonly name: string; readonly value: string };
  }>;
  readonly finish: (request: Json) => Promise<{ readonly kind: string }>;
  readonly disconnect: (slug: string) => Promise<unknown>;
  readonly credential: (request: Json) => Promise<Credential>;
}

interface Credential {
  readonly kind: "use" | "need";
  readonly accountId: string;
  readonly generation: number;
  readonly value: string;
  readonly need?: string;
}

export class AccountHolder extends Actor {
  readonly habits: AccountHabits;
  readonly #vendor: Vendor;
  readonly #find: (finding: string) => void;
  readonly #slug: string;
  isDone = false;
  isConnected = false;
  /** The vault has asked for the account to be connected again. */
  isLost = false;

  constructor(
    world: World,
    name: string,
    habits: AccountHabits,
    parts: {
      readonly vendor: Vendor;
      readonly find: (finding: string) => void;
      /** The server that demands it. */
      readonly slug: string;
    },
  ) {
    super(world, name);
    this.habits = habits;
    this.#vendor = parts.vendor;
    this.#find = parts.find;
    this.#slug = parts.slug;
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  get #vault(): Vault {
    return this.world.namespaces
      .get("VAULTS")
      ?.getByName(this.name === SHARED ? SHARED : `person ${this.name}`) as Vault;
  }

  async #live(): Promise<void> {
    await this.sleep(this.upTo(1000));
    await this.#connected();
    const endsAt = this.world.scheduler.now + this.habits.useMs;
    let { ends = 0 } = this.habits;
    while (this.world.scheduler.now < endsAt && !this.isLost) {
      await this.sleep(this.upTo(this.habits.pauseMs));
      if (ends > 0 && this.world.random.chance(0.5)) {
        ends -= 1;
        await this.#end();
      }
      await Promise.all(Array.from({ length: this.habits.atOnce }, () => this.#use()));
    }
    this.isDone = true;
  }

  async #connected(): Promise<void> {
    await this.insist(() => this.#connect());
    this.isConnected = true;
  }

  async #end(): Promise<void> {
    await this.insist(() => this.#vault.disconnect(this.#slug).then(() => true));
    this.note("ends the account");
    this.#vendor.ended(this.name);
    await this.sleep(this.upTo(5000));
    await this.#connected();
  }

  async #connect(): Promise<boolean> {
    try {
      return await this.#connectOnce();
    } catch (error) {
      this.note(`connecting fails: ${String(error)}`);
      return false;
    }
  }

  async #connectOnce(): Promise<boolean> {
    const begunAt = this.world.scheduler.now;
    const attempt = { slug: this.#slug, origin: ORIGIN, person: this.name };
    const begun = await this.#vault.begin(attempt);
    if (begun.kind !== "redirect") throw new Error(JSON.stringify(begun));
    const { url, cookie } = begun;
    const state = new URL(url).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ code: this.name, state }).toString();
    const cookies = { [cookie.name]: cookie.value };
    const { kind } = await this.#vault.finish({ ...attempt, query, cookies });
    this.note(`connecting: ${kind}`);
    if (kind === "connected") this.#vendor.ended(this.name, begunAt);
    return kind === "connected";
  }

  async #use(): Promise<void> {
    try {
      const credential = await this.#credential({ slug: this.#slug });
      if (credential?.kind !== "use" || this.#vendor.accepts(credential.value)) return;
      const { accountId, generation } = credential;
      await this.#credential({ slug: this.#slug, refused: { accountId, generation } });
    } catch (error) {
      this.note(`the vault fails: ${String(error)}`);
    }
  }

  async #credential(request: Json): Promise<Credential | undefined> {
    const credential = await this.#vault.credential(request);
    if (credential.kind === "need") {
      this.note(`needs ${credential.need}`);
      if (credential.need === "connect") this.isLost = true;
      return undefined;
    }
    const owner = this.#vendor.ownerOf(credential.value);
    if (owner !== this.name) this.#find(`${this.name} is given a credential of ${owner}`);
    return credential;
  }
}
