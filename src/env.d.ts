import type * as worker from "./index.ts";
import type { ActivityObject } from "../durable-objects/activity-object.ts";
import type { AuthShardObject } from "../durable-objects/auth-shard-object.ts";
import type { BridgeObject } from "../durable-objects/bridge-object.ts";
import type { ConnectorObject } from "../durable-objects/connector-object.ts";
import type { FanOutObject } from "../durable-objects/fan-out-object.ts";
import type { FeedObject } from "../durable-objects/feed-object.ts";
import type { RegistryObject } from "../durable-objects/registry-object.ts";
import type { SessionObject } from "../durable-objects/session-object.ts";
import type { VaultObject } from "../durable-objects/vault-object.ts";

declare global {
  /** The bindings of wrangler.toml. Read in `config.ts`, `app.ts` and the Durable Objects only. */
  interface Env extends Readonly<Record<string, unknown>> {
    readonly SESSIONS: DurableObjectNamespace<SessionObject>;
    /** A fixed number of objects, by name (`src/auth/store/shards.ts`). */
    readonly AUTH: DurableObjectNamespace<AuthShardObject>;
    /** One for each principal, legacy upstream and kind of modern client, by name. */
    readonly BRIDGES: DurableObjectNamespace<BridgeObject>;
    /** One for each person who publishes servers, by the person's id. */
    readonly CONNECTORS: DurableObjectNamespace<ConnectorObject>;
    /** One for each upstream and set of credentials, by name (`durable-objects/ports.ts`). */
    readonly FEEDS: DurableObjectNamespace<FeedObject>;
    /** A fixed number of objects, by name (`durable-objects/ports.ts`). */
    readonly FAN_OUT: DurableObjectNamespace<FanOutObject>;
    /** One object, of one name. */
    readonly REGISTRY: DurableObjectNamespace<RegistryObject>;
    /** One for each person, for what all share, and for each issuer, by name (`durable-objects/vaults.ts`). */
    readonly VAULTS: DurableObjectNamespace<VaultObject>;
    /** Optional: gets a point for each call (`src/observability/analytics.ts`). */
    readonly ANALYTICS?: unknown;
    /** A fixed number of objects, by name (`src/activity/shards.ts`). */
    readonly ACTIVITIES: DurableObjectNamespace<ActivityObject>;
  }

  namespace Cloudflare {
    interface Env extends globalThis.Env {}

    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
