import type * as worker from "./index.ts";
import type { SessionObject } from "../durable-objects/session-object.ts";

declare global {
  /** The bindings of wrangler.toml. Read in `config.ts`, `app.ts` and the Durable Objects only. */
  interface Env extends Readonly<Record<string, unknown>> {
    readonly SESSIONS: DurableObjectNamespace<SessionObject>;
  }

  namespace Cloudflare {
    interface Env extends globalThis.Env {}

    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
