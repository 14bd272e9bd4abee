// The 2026 revision has no sessions: each request gets a fresh server, built and thrown away.
// One Durable Object serves them all, because a change made by one request must reach the
// subscriptions/listen streams that other requests left open.

import { DurableObject } from "cloudflare:workers";
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { buildServer } from "./build-server.ts";
import { KETTLE_URI } from "./kettle.ts";
import { World } from "./world.ts";

const GARDEN_KEY = "gardenOpen";

export class Teahouse extends DurableObject {
  readonly #world: World;
  readonly #handler: McpHttpHandler;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);

    // Idle objects lose their memory, so the garden gate is the one thing written down.
    const gardenOpen = ctx.storage.kv.get<boolean>(GARDEN_KEY) ?? false;
    this.#world = new World(gardenOpen, {
      gardenChanged: (open) => {
        ctx.storage.kv.put(GARDEN_KEY, open);
        this.#handler.notify.toolsChanged();
        this.#handler.notify.promptsChanged();
        this.#handler.notify.resourcesChanged();
      },
      kettleChanged: () => this.#handler.notify.resourceUpdated(KETTLE_URI),
    });

    this.#handler = createMcpHandler(() => buildServer(this.#world).server, {
      // The Worker sends older clients to a LegacySession instead.
      legacy: "reject",
      bus: this.#bus(),
    });
  }

  override fetch(request: Request): Promise<Response> {
    return this.#handler.fetch(request);
  }

  /** The SDK's own bus, which also has somebody watch the kettle while a stream is open. */
  #bus(): ServerEventBus {
    const bus = new InMemoryServerEventBus();
    return {
      publish: (event) => bus.publish(event),
      subscribe: (listener) => {
        const unsubscribe = bus.subscribe(listener);
        const stopWatching = this.#world.watchKettle();
        return () => {
          unsubscribe();
          stopWatching();
        };
      },
    };
  }
}
