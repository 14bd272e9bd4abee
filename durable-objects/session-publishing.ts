/** What the person of a session publishes, which comes and goes while the session lasts. */

import type { PublisherScope } from "../src/catalog/request-scope.ts";
import type { Config } from "../src/config/config.ts";
import type { Endpoint, Picked } from "../src/endpoint/endpoint.ts";
import { withPublished } from "../src/endpoint/published-endpoint.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import type { PublishedNames } from "../src/sessions/session-id.ts";
import { connectorAt, publishedServerIn } from "./connectors.ts";
import type { SessionStore } from "./session-store.ts";

/** A Worker may know a person's servers of some seconds ago for this long. */
const BELIEVED_MS = 15_000;

export class SessionPublishing {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #config: Config | undefined;
  readonly #store: SessionStore;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(ctx: DurableObjectState, env: Env, config: Config | undefined, store: SessionStore) {
    this.#ctx = ctx;
    this.#env = env;
    this.#config = config;
    this.#store = store;
  }

  get names(): PublishedNames | undefined {
    return this.#store.known?.published;
  }

  /** Resolves when the servers are known again that a change was announced of. */
  get settled(): Promise<void> | undefined {
    return this.#reading;
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
    const settled = (): Promise<void> | undefined => this.#reading;
    return {
      person,
      changed: () => this.#read(person),
      get settled() {
        return settled();
      },
    };
  }

  /** @param said by the Worker with a request; nothing of a person who publishes nothing. */
  learn(said: PublishedNames | undefined): void {
    const known = this.names;
    if (this.#config?.isPublishingOn !== true || (known === undefined && said === undefined))
      return;
    if (said !== undefined && said.version > (known?.version ?? -1)) this.#keep(said);
    const isOld = Date.now() - this.#readAt > BELIEVED_MS;
    const isOver = said === undefined && isOld && known !== undefined && known.names.length > 0;
    if (isOver) this.#keep({ ...known, names: [] });
  }

  #read(person: string): void {
    const reading = connectorAt(this.#env, person)
      .list()
      .then(({ version, servers }) => {
        this.#readAt = Date.now();
        this.#keep({ version, names: servers.map(({ name }) => name) });
      })
      .catch((error: unknown) => {
        logUnexpected(error); // the object restarts
      })
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    this.#reading = reading;
    this.#ctx.waitUntil(reading);
  }

  #keep(published: PublishedNames): void {
    this.#store.learn({ published });
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
