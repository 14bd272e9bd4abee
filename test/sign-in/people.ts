/**
 * Users that are signed in already, and tokens of theirs: made in the gateway's own records, for
 * tests of what a token is good for. How a user gets one is tested elsewhere.
 */

import { env } from "cloudflare:workers";

import { authOf } from "../../durable-objects/authorization-server.ts";
import { knownConfig } from "../../durable-objects/live-config.ts";
import type { AuthBacking } from "../../src/auth/context/context.ts";
import type { Resource } from "../../src/auth/resources.ts";
import type { Maker } from "../../src/auth/store/api-keys.ts";
import type { AuthShard } from "../../src/auth/context/auth-store.ts";
import type { Headers } from "../integration/client.ts";
import { PEOPLE_PROVIDER } from "../support/oauth-owner.ts";
import { newPkce, REDIRECT_URI, type Tokens, tokensIn } from "../support/oauth-requests.ts";
import { ORIGIN } from "./gateway.ts";

const DAY_MS = 86_400_000;

/** The records of the gateway under test. */
export function records(): AuthBacking {
  const loaded = knownConfig(env);
  if (!loaded.ok) throw new Error(loaded.problems.join(" "));
  return authOf(env, loaded.config);
}

/** Whom the provider of `PEOPLE_PROVIDER` has named; it has left nothing to ask it again with. */
export const SOMEBODY = {
  ...{ provider: PEOPLE_PROVIDER.name, issuer: PEOPLE_PROVIDER.team },
  email: "somebody@example.com",
};
/** The address of an administrator. */
export const ROOT_EMAIL = "root@example.com";

export interface TokenOptions {
  /** The endpoint that it is for; `/mcp/alpha` by default. */
  readonly path?: string;
  /** The first scopes of its resource by default. */
  readonly scopes?: readonly string[];
}

export interface Key {
  readonly id: string;
  readonly token: string;
}

export interface Connection {
  readonly client: string;
  readonly grant: string;
  readonly tokens: Tokens;
}

export class Person {
  readonly id: string;
  /** What everything that they begin remembers of the owner code. */
  readonly codeMac: string | undefined;

  private constructor(id: string, codeMac?: string) {
    this.id = id;
    this.codeMac = codeMac;
  }

  /** A person whom no other test knows. */
  static async signIn(): Promise<Person> {
    const subject = crypto.randomUUID();
    const id = await (await records().secrets()).userId(SOMEBODY.issuer, subject);
    const user = { ...SOMEBODY, id, subject, name: "Somebody" };
    await records().store.ofUser(id).users.signedIn(user);
    return new Person(id);
  }

  /** The same person, for what begins from now on under this code. */
  under(codeMac: string): Person {
    return new Person(this.id, codeMac);
  }

  /** What sessions, grants and keys of theirs remember. */
  get remembered(): { readonly codeMac?: string } {
    return this.codeMac === undefined ? {} : { codeMac: this.codeMac };
  }

  /** Where everything of theirs is kept. */
  get shard(): AuthShard {
    return records().store.ofUser(this.id);
  }

  /** Makes an API key. @param expiresAt in milliseconds since 1970. */
  async key(options: TokenOptions & { readonly expiresAt?: number } = {}): Promise<Key> {
    const { path = "/mcp/alpha", expiresAt = Date.now() + DAY_MS } = options;
    const resource = resourceAt(path);
    const { key, token } = await this.shard.keys.create({
      ...{ kind: "sk", owner: this.id, label: "test", expiresAt, resources: [resource.id] },
      scopes: options.scopes ?? resource.scopes.slice(0, 1),
      ...this.remembered,
    });
    return { id: key.id, token };
  }

  /** Connects an application, as after sign-in and consent. @param client one that exists. */
  async connect(
    options: TokenOptions & { readonly client?: string; readonly name?: string } = {},
  ): Promise<Connection> {
    const { authorities, engine } = records();
    const resource = resourceAt(options.path ?? "/mcp/alpha");
    const helpers = authorities.at(ORIGIN).helpers(engine);
    const client = options.client ?? (await newClient());
    const scope = [...(options.scopes ?? resource.scopes.slice(0, 1))];
    const { verifier, challenge } = await newPkce();
    const { redirectTo } = await helpers.completeAuthorization({
      request: {
        ...{ responseType: "code", clientId: client, redirectUri: REDIRECT_URI, state: "s", scope },
        ...{ codeChallenge: challenge, codeChallengeMethod: "S256", resource: resource.id },
      },
      ...{
        userId: this.id,
        scope,
        props: {},
        metadata: { name: options.name ?? "Test client", ...this.remembered },
      },
      revokeExistingGrants: false,
    });
    const code = new URL(redirectTo).searchParams.get("code") ?? "";
    const response = await this.askForToken({
      ...{ grant_type: "authorization_code", client_id: client, redirect_uri: REDIRECT_URI },
      ...{ code, code_verifier: verifier },
    });
    const [, grant = ""] = code.split(":");
    return { client, grant, tokens: await tokensIn(response) };
  }

  /** A request of the token endpoint, where this person's grants are. */
  async askForToken(parameters: Record<string, string>): Promise<Response> {
    const params = new URLSearchParams(parameters);
    const { response } = await this.shard.token(ORIGIN, { params, authorization: null });
    return response;
  }
}

/** An administrator, for what one has to have made. */
export async function newMaker(): Promise<Maker> {
  const { id, shard } = await Person.signIn();
  await shard.users.change(id, { email: ROOT_EMAIL });
  return { user: id };
}

export function as(token: string): Headers {
  return { Authorization: `Bearer ${token}` };
}

async function newClient(): Promise<string> {
  const { authorities, engine } = records();
  const metadata = { redirectUris: [REDIRECT_URI], tokenEndpointAuthMethod: "none" };
  return (await authorities.at(ORIGIN).helpers(engine).createClient(metadata)).clientId;
}

function resourceAt(path: string): Resource {
  const found = records()
    .authorities.at(ORIGIN)
    .resources.find((resource) => resource.path === path);
  if (found === undefined) throw new Error(`No resource ${path}`);
  return found;
}
