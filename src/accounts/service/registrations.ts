/**
 * The registrations of the gateway at one issuer, for everybody: one for each redirect URI. They are made
 * one at a time, a failed one is not repeated for a while, and one that is gone is deleted by its client id,
 * so that a newer one stays.
 */

import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { RegistrationFacts } from "../client/client-metadata.ts";
import type { RegisteredClient, RegistrationOutcome } from "../client/register.ts";
import type { RegistrationRows } from "../store/registration-rows.ts";
import type { VaultSeal } from "./vault-seal.ts";

export interface RegistrationRequest {
  readonly endpoint: string;
  readonly facts: RegistrationFacts;
  /** The slug of the server for which it is. */
  readonly server: string;
  /** Makes a new one although there is one. */
  readonly isAnew: boolean;
}

export type RegistrationResult =
  | { readonly kind: "registered"; readonly client: RegisteredClient }
  | Extract<RegistrationOutcome, { kind: "failed" }>;

export interface RegistrationsOptions {
  readonly rows: RegistrationRows;
  readonly seal: VaultSeal;
  readonly register: (request: RegistrationRequest) => Promise<RegistrationOutcome>;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;

export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  register(request: RegistrationRequest): Promise<RegistrationResult> {
    return this.#mutex.run(request.facts.redirectUri, () => this.#register(request));
  }

  async forget(redirectUri: string, clientId: string): Promise<void> {
    await this.#mutex.run(redirectUri, async () => {
      this.#options.rows.forget(redirectUri, clientId);
    });
  }

  /** Seals with the current key what another has sealed. @returns how many registrations it were. */
  async sealAnew(): Promise<number> {
    const { rows, seal } = this.#options;
    let count = 0;
    for (const redirectUri of rows.redirectUris()) {
      const place = ["client", redirectUri];
      // oxlint-disable-next-line no-await-in-loop -- one row at a time is held in memory
      await this.#mutex.run(redirectUri, async () => {
        const sealed = rows.find(redirectUri);
        const opened = sealed === undefined ? undefined : await seal.open(place, sealed);
        if (opened?.isOld !== true) return;
        rows.sealAnew(redirectUri, await seal.seal(place, opened.value));
        count += 1;
      });
    }
    return count;
  }

  async #register(request: RegistrationRequest): Promise<RegistrationResult> {
    const { rows, seal, register } = this.#options;
    const { redirectUri } = request.facts;
    const known = request.isAnew ? undefined : await this.#known(redirectUri);
    if (known !== undefined) return { kind: "registered", client: known };
    const failed = rows.failure(redirectUri);
    if (failed !== undefined) return { kind: "failed", trouble: failed };
    await seal.ready();
    const outcome = await register(request);
    if (outcome.kind === "failed") rows.fail(redirectUri, outcome.trouble);
    else {
      const sealed = await seal.seal(["client", redirectUri], outcome.client);
      rows.put(redirectUri, outcome.client.id, sealed);
    }
    return outcome;
  }

  /** One whose secret is about to end is of no use for a new account. */
  async #known(redirectUri: string): Promise<RegisteredClient | undefined> {
    const { rows, seal, now } = this.#options;
    const sealed = rows.find(redirectUri);
    if (sealed === undefined) return undefined;
    const opened = await seal.open(["client", redirectUri], sealed);
    const client = opened?.value as RegisteredClient | undefined;
    const { secretExpiresAt = Infinity } = client ?? {};
    return secretExpiresAt - now() > DAY_MS ? client : undefined;
  }
}
