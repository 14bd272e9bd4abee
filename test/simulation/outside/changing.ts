/** What changes at a server: two resources and its list of tools, each with a version that can be read. */

import { Context } from "../platform/context.ts";
import type { Actor, Json } from "./actor.ts";
import { type ChangeLedger, TOOLS } from "./changes.ts";
import { TOOL } from "./tool.ts";

export interface ChangeHabits {
  /** How often something changes; a server without this has no resources. */
  readonly changes?: number;
  /** The longest pause before the next change, in milliseconds. */
  readonly changeMs?: number;
  /** The longest time before the first pause, in milliseconds. Clients are there by then, mostly. */
  readonly quietMs?: number;
}

/** Sends a notification to those who asked for it. @param uri of a resource. */
export type Announce = (method: string, uri?: string) => void;

const QUIET_MS = 5000;
const POLL_MS = 3000;
/** Longer than any pause between two attempts of the gateway, by a clock that is right: ten minutes, after many. */
const PATIENCE_MS = 700_000;

export class Changing {
  readonly uris: readonly string[];
  readonly #actor: Actor;
  readonly #habits: ChangeHabits;
  readonly #ledger: ChangeLedger;
  readonly #announce: Announce;
  /** The topic of its list of tools. */
  readonly tools: string;
  #left: number;
  #toolsVersion = 0;

  constructor(
    actor: Actor,
    habits: ChangeHabits,
    ledger: ChangeLedger,
    announce: Announce,
    tools: string = TOOLS,
  ) {
    this.tools = tools;
    this.#actor = actor;
    this.#habits = habits;
    this.#ledger = ledger;
    this.#announce = announce;
    this.#left = habits.changes ?? 0;
    this.uris = this.isAny ? ["a", "b"].map((name) => `res://${actor.name}/${name}`) : [];
  }

  get isAny(): boolean {
    return (this.#habits.changes ?? 0) > 0;
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  /** To be called in each life of the actor. */
  start(): void {
    if (this.isAny) this.#actor.context.run(() => void this.#live());
  }

  /** Something changes, and everybody who asked is told. */
  change(): void {
    const { random } = this.#actor.world;
    if (random.chance(0.3)) {
      this.#toolsVersion += 1;
      this.#ledger.changed(this.tools);
      this.#note(this.tools);
      this.#announce("notifications/tools/list_changed");
    } else {
      const uri = random.pick(this.uris);
      this.#ledger.changed(uri);
      this.#note(uri);
      this.#announce("notifications/resources/updated", uri);
    }
  }

  /** A resource of another server is asked for here while that is not there. */
  isForeign(method: unknown, { uri }: Json): boolean {
    const isOfResource = method === "resources/subscribe" || method === "resources/read";
    return isOfResource && !this.uris.includes(String(uri));
  }

  get capabilities(): Json {
    return this.isAny ? { resources: { subscribe: true, listChanged: true } } : {};
  }

  /** @returns the fields of a result; `undefined` for another method. */
  answer(method: unknown, params: Json): Json | undefined {
    if (method === "tools/list") {
      return { tools: [this.isAny ? { ...TOOL, description: `v${this.#toolsVersion}` } : TOOL] };
    }
    if (!this.isAny) return undefined;
    if (method === "resources/list")
      return { resources: this.uris.map((uri) => ({ uri, name: uri })) };
    if (method === "resources/templates/list") return { resourceTemplates: [] };
    if (method === "prompts/list") return { prompts: [] };
    if (method !== "resources/read") return undefined;
    const uri = String(params["uri"]);
    return { contents: [{ uri, text: `v${this.#ledger.versionOf(uri)}` }] };
  }

  async #live(): Promise<void> {
    const context = Context.current();
    await this.#actor.sleep(this.#actor.upTo(this.#habits.quietMs ?? QUIET_MS));
    while (this.#left > 0 && context.isAlive) {
      await this.#actor.sleep(this.#actor.upTo(this.#habits.changeMs ?? 1000));
      this.#left -= 1;
      this.change();
      if (this.#actor.world.random.chance(0.5)) await this.#settled();
    }
  }

  /** Until everybody knows what has changed: what comes later would hide that somebody does not. */
  async #settled(): Promise<void> {
    const { world } = this.#actor;
    const since = world.scheduler.now;
    while (!this.#ledger.isSettled()) {
      const waitedMs = world.scheduler.now - Math.max(since, this.#ledger.brokenAt);
      if (waitedMs > PATIENCE_MS + world.mostOffMs + this.#ledger.mostAwayMs) {
        this.#ledger.late();
        return;
      }
      await this.#actor.sleep(POLL_MS);
    }
  }

  #note(topic: string): void {
    this.#actor.note(`changes ${topic} to version ${this.#ledger.versionOf(topic)}`);
  }
}
