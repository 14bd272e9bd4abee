/** Everybody outside of the gateway who takes part in a plan. */

import { AccountHolder } from "../outside/account-holder.ts";
import { Actor } from "../outside/actor.ts";
import { toolsOf, TOOLS } from "../outside/changes.ts";
import { Changing } from "../outside/changing.ts";
import { Door } from "../outside/door.ts";
import { guard, SHARED } from "../outside/guarded.ts";
import { Intruder } from "../outside/intruder.ts";
import { Laptop } from "../outside/laptop.ts";
import type { Ledger } from "../outside/ledger.ts";
import { LegacyClient } from "../outside/legacy-client.ts";
import { LegacyServer } from "../outside/legacy-server.ts";
import { ModernClient } from "../outside/modern-client.ts";
import { ModernServer } from "../outside/modern-server.ts";
import { Operator } from "../outside/operator.ts";
import { Publisher } from "../outside/publisher.ts";
import type { ServerFacts } from "../outside/server-facts.ts";
import { SseClient } from "../outside/sse-client.ts";
import { TOOL } from "../outside/tool.ts";
import { Vendor } from "../outside/vendor.ts";
import type { World } from "../platform/world.ts";
import { OWN_PATH, publishedFacts } from "./calls-of-published.ts";
import type { Plan } from "./plan.ts";

type Server = LegacyServer | ModernServer;
type Client = LegacyClient | ModernClient | SseClient;

/** The server of a plan in which people's vaults alone are asked. */
const VENDORS = { name: "vend", url: "https://vend.example.com/mcp" };

export class Parties {
  readonly servers: readonly Server[];
  readonly laptops: readonly Laptop[];
  /** What each person publishes, whichever of their laptops runs it. */
  readonly #files: ReadonlyMap<number, Changing>;
  readonly clients: readonly Client[];
  readonly holders: readonly AccountHolder[];
  readonly vendor: Vendor | undefined;
  readonly #operator: Operator | undefined;
  readonly #publishers: readonly Publisher[];
  readonly #intruders: readonly Intruder[];
  readonly #plan: Plan;
  readonly #world: World;
  readonly #ledger: Ledger;

  /** @param upstreams the gateway's configuration of its servers, which is filled. */
  constructor(plan: Plan, world: World, ledger: Ledger, upstreams: Record<string, object>) {
    this.#plan = plan;
    this.#world = world;
    this.#ledger = ledger;
    this.servers = plan.servers.map((habits, index) =>
      habits.era === "modern"
        ? new ModernServer(world, `server${index}`, habits, ledger)
        : new LegacyServer(world, `server${index}`, habits, ledger),
    );
    this.#files = this.#makeFiles();
    this.laptops = (plan.laptops ?? []).map((habits, index) => {
      const parts = { door: this.doorOf(habits.person), changing: this.#filesOf(habits.person) };
      return new Laptop(world, `laptop${index}`, habits, { ledger, ...parts });
    });
    this.#operator = this.#makeOperator();
    this.#publishers = (plan.publishers ?? []).map(
      (habits) => new Publisher(world, habits, ledger),
    );
    this.clients = plan.clients.map((habits, index) => this.#client(`client${index}`, habits));
    this.vendor =
      plan.vendor === undefined
        ? undefined
        : new Vendor(world, plan.vendor, (finding) => ledger.find(finding));
    this.holders = this.#makeHolders();
    this.#intruders = (plan.intruders ?? []).map(
      (habits, index) =>
        new Intruder(world, `client of an intruder${index}`, habits, {
          ledger,
          door: this.doorOf(habits.person),
        }),
    );
    this.#configure(upstreams);
  }

  /** Those whose processes a fault may restart. */
  get outsiders(): readonly Actor[] {
    const { servers, laptops, vendor } = this;
    return [...servers, ...laptops, ...(vendor === undefined ? [] : [vendor])];
  }

  /** Those who have something to do, and come to an end. */
  get busy(): readonly (Client | AccountHolder | Operator | Publisher)[] {
    const operator = this.#operator;
    const changing = [...this.#publishers, ...(operator === undefined ? [] : [operator])];
    return [...this.clients, ...this.holders, ...changing];
  }

  doorOf(person?: number, path?: string): Door {
    return new Door(this.#world, person === undefined ? undefined : `p${person}`, path);
  }

  start(): void {
    for (const { changing } of this.servers) changing.start();
    for (const changing of this.#files.values()) changing.start();
    for (const each of this.#guests) each.start();
  }

  /** Everybody who came to the gateway goes, without a word. */
  leave(): void {
    for (const { context } of this.#guests) context.end();
  }

  get #guests(): readonly (Parties["busy"][number] | Laptop | Intruder)[] {
    return [...this.busy, ...this.laptops, ...this.#intruders];
  }

  #client(name: string, { server, person, isAlone, ...habits }: Plan["clients"][number]): Client {
    const world = this.#world;
    const ledger = this.#ledger;
    const { login, laptops } = this.#plan;
    if (login !== undefined || laptops !== undefined)
      ledger.owners.of.set(name, this.#ownerFor(person));
    const door = this.doorOf(person, isAlone === true ? OWN_PATH : undefined);
    const parts = { ledger, server: this.factsOf(server, person, isAlone), door };
    if (habits.era === "sse") return new SseClient(world, name, habits, parts);
    return habits.era === "modern"
      ? new ModernClient(world, name, habits, parts)
      : new LegacyClient(world, name, habits, parts);
  }

  /** @returns the owner of the account that a client's calls need, if its server demands one. */
  #ownerFor(person: number | undefined): string {
    return this.#plan.login === "oauth-shared" ? SHARED : `p${person}`;
  }

  /** What a client of this person knows of its server. */
  factsOf(server: number, person: number | undefined, isAlone = false): ServerFacts {
    const its = this.servers[server];
    if (its === undefined) throw new Error(`The plan has no server ${server}`);
    const usual = this.#usualFacts(its, this.#ownerFor(person));
    if (this.laptops.length === 0 || person === undefined) return usual;
    const publisher = this.#publishers.find(({ habits }) => habits.person === person);
    return publishedFacts(usual, {
      laptops: this.laptops.filter(({ habits }) => habits.person === person),
      files: this.#filesOf(person),
      ...{ isAlone, isDone: () => publisher?.isDone !== false },
    });
  }

  /** @param owner of the account that the client's calls need. */
  #usualFacts({ name, habits, isKept }: Server, owner: string): ServerFacts {
    const { servers } = this;
    const operator = this.#operator;
    const { faults, login } = this.#plan;
    // A server may forget, and so may the gateway, by a clock that says that the time for it has come.
    const mayForget = faults.some(({ kind }) => kind === "server" || kind === "clock");
    const isModern = habits.era === "modern";
    const holdersOf = (): readonly AccountHolder[] =>
      this.holders.filter((each) => each.name === owner);
    const named = login === undefined && operator === undefined ? [] : servers;
    return {
      ...{ name, isModern, prefix: this.#prefixOf(name) },
      // An account, or a server, may be gone when a stream is taken up.
      isKept: isKept && !mayForget && login === undefined && operator?.of !== name,
      isReady: () =>
        holdersOf().every(({ isConnected }) => isConnected) && operator?.isReady !== false,
      uris: servers.flatMap(({ changing }) => changing.uris),
      ...{ tools: TOOLS, mayBeUnknown: false },
      comeAndGo: named.map((each) => `${this.#prefixOf(each.name)}${TOOL.name}`),
      announcesLists: servers.length > 1 || isModern || login !== undefined,
      isDone: () =>
        servers.every(({ changing }) => changing.isDone) &&
        holdersOf().every((each) => each.isDone) &&
        operator?.isDone !== false,
    };
  }

  /** Before the names of a server's tools: one that is alone in `MCP_SERVERS` keeps its own names. */
  #prefixOf(name: string): string {
    const configured = this.servers.filter((each) => !this.#isAdded(each.name));
    return configured.length === 1 && configured[0]?.name === name ? "" : `${name}__`;
  }

  #isAdded(name: string): boolean {
    return this.#operator?.habits.adds === true && this.#operator.of === name;
  }

  #makeOperator(): Operator | undefined {
    const { operator } = this.#plan;
    const server = this.servers[operator?.server ?? -1];
    if (operator === undefined || server === undefined) return undefined;
    return new Operator(this.#world, operator, { ledger: this.#ledger, server });
  }

  #makeFiles(): ReadonlyMap<number, Changing> {
    const files = new Map<number, Changing>();
    for (const { person, ...habits } of this.#plan.laptops ?? []) {
      const announce = (method: string, uri?: string): void => {
        for (const laptop of this.laptops)
          if (laptop.habits.person === person) laptop.announce(method, uri);
      };
      const disk = new Actor(this.#world, `files${person}`);
      const { changes } = this.#ledger;
      if (files.has(person)) continue;
      files.set(person, new Changing(disk, habits, changes, announce, toolsOf(`p${person}`)));
    }
    return files;
  }

  #filesOf(person: number): Changing {
    const files = this.#files.get(person);
    if (files === undefined) throw new Error(`The plan has no laptop of person ${person}`);
    return files;
  }

  #makeHolders(): readonly AccountHolder[] {
    const { vendor } = this;
    const { login, holders = [] } = this.#plan;
    if (vendor === undefined) return [];
    const find = (finding: string): void => this.#ledger.find(finding);
    const slug = login === undefined ? VENDORS.name : "server0";
    return holders.map((habits, index) => {
      const name = login === "oauth-shared" ? SHARED : `p${index}`;
      return new AccountHolder(this.#world, name, habits, { vendor, find, slug });
    });
  }

  #configure(upstreams: Record<string, object>): void {
    const { vendor } = this;
    const { login } = this.#plan;
    // Who connects an account, or loses one, is told of everything.
    if (login !== undefined) this.#ledger.changes.gap("every");
    for (const { name, url } of this.servers) {
      if (this.#isAdded(name)) continue;
      upstreams[name] = { url };
      if (vendor === undefined || login === undefined) continue;
      upstreams[name] = { url, auth: login, oauth: vendor.settings };
      guard(this.#world.network, url, vendor, this.#ledger);
    }
    if (vendor !== undefined && login === undefined)
      upstreams[VENDORS.name] = { url: VENDORS.url, auth: "oauth", oauth: vendor.settings };
  }
}
