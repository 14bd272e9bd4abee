/**
 * A vendor on Workers: `@cloudflare/workers-oauth-provider` registers clients, lets its one person approve at once,
 * and takes a request to the MCP server behind it only with a token. `/control` says what it has, and ends tokens.
 */

import { OAuthProvider, type OAuthHelpers } from "@cloudflare/workers-oauth-provider";

import { MemoryKv } from "./memory-kv.ts";
import type { OAuthWorkerState } from "./state.ts";

interface Env {
  /** The server, which demands nothing. */
  readonly MCP: Fetcher;
  readonly OAUTH_KV: MemoryKv;
  readonly OAUTH_PROVIDER: OAuthHelpers;
}

const kv = new MemoryKv();
const requests: string[] = [];
const PERSON = "alice";

function providerAt(origin: string): OAuthProvider<Env> {
  return new OAuthProvider<Env>({
    apiRoute: "/mcp",
    apiHandler: { fetch: (request, env) => env.MCP.fetch(request) },
    defaultHandler: { fetch: approve },
    authorizeEndpoint: "/authorize",
    tokenEndpoint: "/token",
    clientRegistrationEndpoint: "/register",
    resourceMetadata: { resource: `${origin}/mcp` },
  });
}

/** The person is signed in, and approves whatever is asked. */
async function approve(request: Request, { OAUTH_PROVIDER: helpers }: Env): Promise<Response> {
  if (new URL(request.url).pathname !== "/authorize") return new Response(null, { status: 404 });
  const asked = await helpers.parseAuthRequest(request);
  const { redirectTo } = await helpers.completeAuthorization({
    ...{ request: asked, userId: PERSON, metadata: {}, scope: asked.scope, props: {} },
  });
  return Response.redirect(redirectTo, 302);
}

async function note(request: Request, path: string): Promise<void> {
  if (path === "/register") requests.push("register");
  if (path !== "/token") return;
  // RFC 7009 section 2.1: the same endpoint takes revocations, which have no grant type.
  const form = new URLSearchParams(await request.text());
  requests.push(form.get("grant_type") ?? "revoke");
}

function state(): OAuthWorkerState {
  const grants = kv.valuesOf("grant:").map((text) => JSON.parse(text) as GrantRow);
  return {
    requests,
    refreshTokens: grants.flatMap(({ refreshTokenId = [] }) => refreshTokenId),
    accessTokens: kv.valuesOf("token:").length,
  };
}

interface GrantRow {
  readonly refreshTokenId?: string;
}

export default {
  async fetch(request, env, ctx) {
    const { origin, pathname } = new URL(request.url);
    if (pathname === "/control/state") return Response.json(state());
    if (pathname === "/control/expire") {
      kv.drop("token:");
      return Response.json(state());
    }
    await note(request.clone(), pathname);
    return providerAt(origin).fetch(request, { ...env, OAUTH_KV: kv } as Env, ctx);
  },
} satisfies ExportedHandler<Pick<Env, "MCP">>;
