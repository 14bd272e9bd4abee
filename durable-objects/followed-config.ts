/**
 * The configuration as an object follows it while it lives. What an object does first with each call is to follow:
 * nothing else is delivered to it while the configuration is waited for, so calls keep their order.
 */

import type { Config } from "../src/config/config.ts";
import {
  freshConfig,
  isConfigTooOld,
  knownConfig,
  renewConfig,
  seekConfig,
} from "./live-config.ts";

export class FollowedConfig {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #config: Config | undefined;
  #onChange: (config: Config) => void = () => undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.#config = this.#known();
  }

  /** `undefined` while it has mistakes that concern the whole gateway. */
  get config(): Config | undefined {
    return this.#config;
  }

  /**
   * Called once by the constructor of the object.
   *
   * @param make is called when the configuration is known: at once, where this isolate knows it.
   * @param onChange is called when it has become another one after that.
   */
  begin(make: () => void, onChange: (config: Config) => void = () => undefined): void {
    const made = (): void => {
      this.#config = this.#known();
      make();
      this.#onChange = onChange;
    };
    if (isConfigTooOld(this.#env)) void this.#renewed(made);
    else made();
  }

  /** @returns what to wait for, if anything. */
  follow(): Promise<unknown> | undefined {
    if (isConfigTooOld(this.#env)) return this.#renewed(() => this.#take());
    void freshConfig(this.#env, (promise) => this.#ctx.waitUntil(promise));
    this.#take();
    return undefined;
  }

  /** Called when it is known that there is something new. @returns whether what is known is that of now. */
  renew(): Promise<boolean> {
    return this.#renewed(() => this.#take());
  }

  /**
   * Called for something that is not known and may not exist. The isolate asks at most once a second, and the
   * object goes on with its other calls meanwhile: whoever names such things cannot stop it.
   *
   * @returns whether what is known is that of this second.
   */
  async seek(): Promise<boolean> {
    const isNew = await seekConfig(this.#env);
    this.#take();
    return isNew;
  }

  /** An object asks by itself: what another one has begun could not end while this one waits. */
  #renewed(then: () => void): Promise<boolean> {
    return this.#ctx.blockConcurrencyWhile(async () => {
      const isNew = await renewConfig(this.#env);
      then();
      return isNew;
    });
  }

  #take(): void {
    const config = this.#known();
    if (config === undefined || config === this.#config) return;
    this.#config = config;
    this.#onChange(config);
  }

  #known(): Config | undefined {
    const loaded = knownConfig(this.#env);
    return loaded.ok ? loaded.config : undefined;
  }
}
