/** The bindings of wrangler.toml. Read in `config.ts`, `app.ts` and the Durable Objects only. */
interface Env extends Readonly<Record<string, unknown>> {
  readonly SESSIONS: DurableObjectNamespace<
    import("../durable-objects/session-object.ts").SessionObject
  >;
}

declare namespace Cloudflare {
  interface Env extends globalThis.Env {}
}
