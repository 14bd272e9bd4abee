/** A vendor as a test sees it, in Node or inside workerd: what to do, and what it was asked. */

import { until } from "../until.ts";
import type {
  Command,
  Hit,
  Place,
  VendorPlace,
  VendorScript,
  VendorState,
  VendorUser,
} from "./script.ts";

export class Vendor {
  readonly place: VendorPlace;
  readonly #control: string;

  private constructor(control: string, place: VendorPlace) {
    this.#control = control;
    this.place = place;
  }

  /**
   * A vendor that no other test knows.
   *
   * @param vendors where they are made: `inject("vendors")`, or `startVendors()`.
   * @param behind the vendor whose authorization server this server has too.
   */
  static async take(vendors: string, script: VendorScript = {}, behind?: Vendor): Promise<Vendor> {
    const place = await post(`${vendors}/take`, { script, behind: behind?.place.id });
    return new Vendor(vendors, place as VendorPlace);
  }

  /** The URL of its MCP server, as the operator configures it. */
  get url(): string {
    return this.place.url;
  }

  get resource(): string {
    return this.place.resource;
  }

  get issuer(): string {
    return this.place.issuer;
  }

  /** The origins of both servers. */
  get origins(): readonly [server: string, authority: string] {
    return [new URL(this.url).origin, new URL(this.issuer).origin];
  }

  /** From now on: members that are given replace those before, reactions those of the same place. */
  async change(script: VendorScript): Promise<void> {
    await this.#do({ kind: "change", script });
  }

  /** Ends access tokens at once, so that the server refuses them; refresh tokens stay. */
  async expire(user?: VendorUser): Promise<void> {
    await this.#do({ kind: "expire", ...(user !== undefined && { user }) });
  }

  /** Withdraws all that a person has granted, or everybody. */
  async withdraw(user?: VendorUser): Promise<void> {
    await this.#do({ kind: "withdraw", ...(user !== undefined && { user }) });
  }

  async forgetClients(): Promise<void> {
    await this.#do({ kind: "forget-clients" });
  }

  async forgetSessions(): Promise<void> {
    await this.#do({ kind: "forget-sessions" });
  }

  async open(gate: string): Promise<void> {
    await this.#do({ kind: "open", gate });
  }

  /** Sends an event on the standing streams of one account. */
  async tell(user: VendorUser, text: string): Promise<void> {
    await this.#do({ kind: "tell", user, text });
  }

  async state(): Promise<VendorState> {
    return (await post(`${this.#control}/${this.place.id}/state`, {})) as VendorState;
  }

  /** Every request so far, in order; of one place, or of all. */
  async hits(place?: Place): Promise<readonly Hit[]> {
    const { hits } = await this.state();
    return place === undefined ? hits : hits.filter((hit) => hit.place === place);
  }

  async count(place: Place): Promise<number> {
    return (await this.hits(place)).length;
  }

  /** Waits until it was asked so often. */
  async receives(place: Place, count = 1): Promise<readonly Hit[]> {
    await until(
      async () => (await this.count(place)) >= count,
      `${count} requests for ${place} at the vendor`,
    );
    return this.hits(place);
  }

  async #do(command: Command): Promise<void> {
    await post(`${this.#control}/${this.place.id}/do`, command);
  }
}

/** The parameters of a request by name; of one that stands twice, the first. */
export function parametersOf({ parameters }: Hit): Readonly<Record<string, string>> {
  return Object.fromEntries(parameters.toReversed());
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`The vendors: ${await response.text()}`);
  return response.json();
}
