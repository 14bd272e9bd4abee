/** What the person of a session publishes, which comes and goes while the session lasts. */

import type { PublisherScope } from "../src/catalog/request-scope.ts";
import type { Config } from "../src/config/config.ts";
import type { Endpoint, Picked } from "../src/endpoint/endpoint.ts";
import { withPublished } from "../src/endpoint/published-endpoint.ts";
import type { PublishedNames } from "../src/sessions/session-id.ts";
import { connectorAt, publishedServerIn } from "./connectors.ts";
import type { SessionStore } from "./session-store.ts";

/** Of whoever knows of nothing. */
const UNKNOWN_VERSION = 0;
/** A Worker may know a person's servers of some seconds ago for this long. */
const BELIEVED_MS = 15_000;

export class SessionPublishing {
  readonly #env: Env;
  readonly #config: Config | undefined;
  readonly #store: SessionStore;
  readonly #onChanged: () => void;
  #readAt = -Infinity;

  /** @param onChanged called when the person publishes other servers than the session knew. */
  constructor(env: Env, config: Config | undefined, store: SessionStore, onChanged: () => void) {
    this.#env = env;
    this.#config = config;
    this.#store = store;
    this.#onChanged = onChanged;
  }

  get names(): PublishedNames | undefined {
    return this.#store.known?.published;
  }

  withPublished(picked: Picked, slug: string | undefined, person: string | undefined): Picked {
    const { names = [] } = this.names ?? {};
    const config = this.#config;
    if (config?.isPublishingOn !== true || person === undefined || names.length === 0)
      return picked;
    const serverOf: Parameters<typeof withPublished>[2]["serverOf"] = (of, name) =>
      publishedServerIn(this.#env, config, of, name);
    return withPublished(picked, slug, { person, names, serverOf });
  }

  publisher(person: string | undefined): PublisherScope | undefined {
    if (this.#config?.isPublishingOn !== true || person === undefined) return undefined;
    return { person, version: () => this.#version };
  }

  /** @param said by the Worker with a request; nothing of a person who publishes nothing. */
  learn(said: PublishedNames | undefined): void {
    const known = this.names;
    if (this.#config?.isPublishingOn !== true || (known === undefined && said === undefined))
      return;
    if (said !== undefined && said.version > (known?.version ?? -1)) this.#keep(said);
    const isOld = Date.now() - this.#readAt > BELIEVED_MS;
    const isOver = said === undefined && isOld && known !== undefined && known.names.length > 0;
    // Of a version that any other is newer than: a Worker may not have known yet that the person publishes.
    if (isOver) this.#keep({ version: UNKNOWN_VERSION, names: [] });
  }

  /** Reads the list anew, of which a change was announced. Rejects when the person's object cannot be asked. */
  async read(): Promise<void> {
    const { person } = this.#store.known ?? {};
    if (this.#config?.isPublishingOn !== true || person === undefined) return;
    const { version, servers } = await connectorAt(this.#env, person).list();
    // A reading that began earlier may end later.
    if (version < this.#version) return;
    this.#readAt = Date.now();
    this.#keep({ version, names: servers.map(({ name }) => name) });
  }

  get #version(): number {
    return this.names?.version ?? UNKNOWN_VERSION;
  }

  #keep(published: PublishedNames): void {
    const { names = [] } = this.names ?? {};
    if (published.version === this.#version && String(published.names) === String(names)) return;
    this.#store.learn({ published });
    this.#onChanged();
  }
}

/**
 * @param find the endpoint as it is now; `undefined` when there is none.
 * @param of what it is made of.
 * @returns the endpoint at any time: found anew only when it is made of something else.
 */
export function currentEndpoint(
  find: () => Endpoint | undefined,
  of: () => readonly unknown[],
): (() => Endpoint) | undefined {
  const first = find();
  if (first === undefined) return undefined;
  let [endpoint, parts] = [first, of()];
  return () => {
    const latest = of();
    if (latest.some((part, n) => part !== parts[n])) {
      parts = latest;
      // The only server of the endpoint may have gone; the Worker answers for that.
      endpoint = find() ?? endpoint;
    }
    return endpoint;
  };
}
