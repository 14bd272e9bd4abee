/** How a client reaches the gateway: as anybody, or with a key of a person who has signed in. */

import { shardName } from "../../../src/auth/store/shards.ts";
import { Context } from "../platform/context.ts";
import type { World } from "../platform/world.ts";
import type { Json } from "./actor.ts";

const LOCAL = "http://localhost:8787";
export const ORIGIN = "https://gw.example.com";

const OWNER_CODE = "an owner's code of the simulation";
const AUTH_SECRET = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA";

/** The variables of a gateway at which people sign in. */
export const SIGN_IN = {
  AUTH_MODE: "oauth",
  PUBLIC_ORIGIN: ORIGIN,
  OWNER_CODE,
  AUTH_SECRET,
  VAULT_SECRET: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY",
};

// By names that the types of Node do not follow: they do not fit the Worker's own files.
const SRC = new URL("../../../src/", import.meta.url).href;
const { authSecretsFrom } = (await import(`${SRC}auth/secrets.ts`)) as {
  readonly authSecretsFrom: (root: Uint8Array) => Promise<{
    readonly ownerCodeMac: (hash: string) => Promise<string>;
  }>;
};
const { hashOf } = (await import(`${SRC}lib/random.ts`)) as {
  readonly hashOf: (secret: string) => Promise<string>;
};
/** Whoever signed in with the owner's code: each record is a person of its own all the same. */
const secrets = await authSecretsFrom(Buffer.from(AUTH_SECRET, "base64url"));
const codeMac = await secrets.ownerCodeMac(await hashOf(OWNER_CODE));

/** The records of sign-in, as an isolate calls them. */
interface AuthShard {
  readonly call: (part: string, method: string, args: readonly unknown[]) => Promise<unknown>;
}

const DECADE_MS = 315_360_000_000;

export class Door {
  readonly origin: string;
  /** Each client of a person has a key of its own, and is another principal. */
  readonly person: string | undefined;
  /** The path of the MCP endpoint. */
  readonly path: string;
  readonly #world: World;
  #token: Promise<string> | undefined;

  constructor(world: World, person?: string, path = "/mcp") {
    this.#world = world;
    this.person = person;
    this.path = path;
    this.origin = person === undefined ? LOCAL : ORIGIN;
  }

  /** Sends a request to the gateway, from the outsider whose code runs. */
  async request(path: string, init: RequestInit): Promise<Response> {
    const url = `${this.origin}${path}`;
    if (this.person === undefined) return this.#world.request(url, init);
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${await this.token(this.person)}`);
    return this.#world.request(url, { ...init, headers });
  }

  /** The process that was signing in has died. */
  forget(): void {
    this.#token = undefined;
  }

  token(person: string): Promise<string> {
    this.#token ??= this.#signIn(person);
    return this.#token;
  }

  /** Again until it has worked: the shard may die meanwhile. */
  async #signIn(person: string): Promise<string> {
    for (;;) {
      try {
        return await this.#newKey(person);
      } catch {
        await new Promise<void>((resolve) => {
          Context.current().setTimer(resolve, 1000, false);
        });
      }
    }
  }

  async #newKey(id: string): Promise<string> {
    const shards = this.#world.namespaces.get("AUTH");
    const shard = shards?.getByName(shardName("u", id)) as AuthShard;
    const owner = { provider: "owner", issuer: "edgeway:owner", subject: "owner" };
    await shard.call("users", "signedIn", [{ ...owner, id, name: id, codeMac }]);
    const expiresAt = this.#world.scheduler.now + DECADE_MS;
    const rights = { scopes: ["mcp"], resources: [`${ORIGIN}/mcp`], codeMac };
    const key: Json = { kind: "sk", owner: id, label: "client", ...rights, expiresAt };
    const { token } = (await shard.call("keys", "create", [key])) as { readonly token: string };
    return token;
  }
}
