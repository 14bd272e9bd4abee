/** An operator who changes one of the gateway's servers while it runs: see `src/observability/added-servers.ts`. */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Ledger } from "./ledger.ts";

export interface OperatorHabits {
  /** The server that changes, by its place in the plan. */
  readonly server: number;
  /** The operator has added the server, and it is not in `MCP_SERVERS`. */
  readonly adds: boolean;
  readonly changes: number;
  /** The longest pause before the next change, in milliseconds. */
  readonly pauseMs: number;
  /** The longest time for which the server is away, in milliseconds. */
  readonly awayMs: number;
}

/** What an operator may do to a server. Its clients find it again after each of them. */
type Change =
  /** It is switched off, or paused, and on again. */
  | "away"
  /** It is removed, and added again. */
  | "removed"
  /** A tool that it does not have is denied: it is reached as before. */
  | "narrowed"
  /** It is reached with another header. */
  | "moved";

interface State {
  readonly servers: readonly { readonly slug: string; readonly revision: number }[];
  readonly switches: Readonly<Record<string, { readonly revision: number }>>;
}

/** The registry, as an isolate calls it. */
interface Registry {
  readonly addedServers: () => Promise<string>;
  readonly putServer: (server: string, revision: number) => Promise<Outcome>;
  readonly removeServer: (slug: string, revision: number) => Promise<Outcome>;
  readonly putSwitch: (slug: string, change: Json, revision: number) => Promise<Outcome>;
}

interface Outcome {
  readonly kind: string;
}

/** The feed of a server, as an isolate calls it. */
interface Feed {
  readonly configured: () => Promise<void>;
}

export class Operator extends Actor {
  readonly habits: OperatorHabits;
  readonly #ledger: Ledger;
  readonly #server: { readonly name: string; readonly url: string };
  #edition = 0;
  isDone = false;
  /** The server has been added. */
  isReady: boolean;

  constructor(
    world: World,
    habits: OperatorHabits,
    parts: {
      readonly ledger: Ledger;
      readonly server: { readonly name: string; readonly url: string };
    },
  ) {
    super(world, "operator");
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#server = parts.server;
    this.isReady = !habits.adds;
  }

  /** The name of the server that changes. */
  get of(): string {
    return this.#server.name;
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    const { random } = this.world;
    const { adds, changes, pauseMs } = this.habits;
    if (adds) await this.#put("live");
    // Before the first client comes, and so the first isolate.
    this.#ledger.thereSince.set(this.#server.name, -Infinity);
    this.isReady = true;
    for (let left = changes; left > 0; left -= 1) {
      await this.sleep(this.upTo(pauseMs));
      await this.#change(random.pick(adds ? ADDED_CHANGES : CHANGES));
    }
    this.isDone = true;
  }

  async #change(change: Change): Promise<void> {
    const { adds } = this.habits;
    switch (change) {
      case "away":
        await (adds ? this.#put("paused") : this.#switch({ off: true }));
        await this.sleep(this.upTo(this.habits.awayMs));
        return adds ? this.#return() : this.#switch({});
      case "removed":
        await this.#remove();
        await this.sleep(this.upTo(this.habits.awayMs));
        return this.#return();
      case "narrowed":
        return this.#switch({ deniedTools: [`none ${(this.#edition += 1)}`] });
      case "moved":
        this.#edition += 1;
        return this.#put("live");
    }
  }

  async #return(): Promise<void> {
    await this.#put("live");
    this.#ledger.thereSince.set(this.#server.name, this.world.scheduler.now);
  }

  #put(state: "live" | "paused"): Promise<void> {
    const { name: slug, url } = this.#server;
    if (state === "paused") this.#ledger.thereSince.delete(slug);
    const entry = { url, headers: { "x-edition": String(this.#edition) } };
    const author = { changedBy: "operator", changedAt: 0, provenance: { kind: "url" } };
    const server = { slug, state, entry, secretNames: [], ...author };
    return this.#keep(
      `makes ${slug} ${state}, edition ${this.#edition}`,
      (registry, { servers }) => {
        const { revision = 0 } = servers.find((each) => each.slug === slug) ?? {};
        return registry.putServer(JSON.stringify(server), revision);
      },
    );
  }

  #remove(): Promise<void> {
    const { name: slug } = this.#server;
    this.#ledger.thereSince.delete(slug);
    return this.#keep(`removes ${slug}`, async (registry, { servers }) => {
      const known = servers.find((each) => each.slug === slug);
      if (known === undefined) return { kind: "changed" };
      return registry.removeServer(slug, known.revision);
    });
  }

  #switch(change: Json): Promise<void> {
    const { name: slug } = this.#server;
    return this.#keep(`sets ${slug} to ${JSON.stringify(change)}`, (registry, { switches }) =>
      registry.putSwitch(slug, change, switches[slug]?.revision ?? 0),
    );
  }

  /** Again until it is kept: the registry may die before it has answered. */
  async #keep(
    what: string,
    change: (registry: Registry, state: State) => Promise<Outcome>,
  ): Promise<void> {
    this.note(what);
    await this.insist(() =>
      this.#ledger.changes.within("every", async () => (await this.#kept(change)) === "changed"),
    );
  }

  async #kept(change: (registry: Registry, state: State) => Promise<Outcome>): Promise<string> {
    const { namespaces } = this.world;
    const registry = namespaces.get("REGISTRY")?.getByName("registry") as Registry;
    const { kind } = await change(registry, JSON.parse(await registry.addedServers()) as State);
    const feed = namespaces.get("FEEDS")?.getByName(`shared ${this.#server.name}`) as Feed;
    // A feed that cannot be reached follows with its next call or alarm.
    await feed.configured().catch(() => undefined);
    return kind;
  }
}

const CHANGES: readonly Change[] = ["away", "away", "narrowed"];
const ADDED_CHANGES: readonly Change[] = ["away", "removed", "narrowed", "moved", "moved"];
