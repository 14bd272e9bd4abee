import type * as worker from "./index.ts";
import type { AuthShardObject } from "../durable-objects/auth-shard-object.ts";
import type { RegistryObject } from "../durable-objects/registry-object.ts";
import type { SessionObject } from "../durable-objects/session-object.ts";

declare global {
  /** The bindings of wrangler.toml. Read in `config.ts`, `app.ts` and the Durable Objects only. */
  interface Env extends Readonly<Record<string, unknown>> {
    readonly SESSIONS: DurableObjectNamespace<SessionObject>;
    /** A fixed number of objects, by name (`src/auth/store/shards.ts`). */
    readonly AUTH: DurableObjectNamespace<AuthShardObject>;
    /** One object, of one name. */
    readonly REGISTRY: DurableObjectNamespace<RegistryObject>;
  }

  namespace Cloudflare {
    interface Env extends globalThis.Env {}

    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
