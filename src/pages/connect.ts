/**
 * `/`: instructions that connect a client to this gateway, or to one server of it: the client that `?client=`
 * names, or the one that is suggested. For a program, the addresses of the endpoints.
 */

import { type SignedIn, signedIn } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { isLoopback } from "../lib/loopback.ts";
import type { EntryNotice } from "../observability/health.ts";
import { page } from "./respond.ts";
import { suggestClient } from "./suggest-client.ts";
import { type ClientId, isClientId } from "./view/client-guides.ts";
import { type ConnectSignIn, connectView } from "./view/connect-view.ts";
import { providerTitle } from "./words.ts";

export interface ConnectContext {
  readonly origin: string;
  /** The upstreams, where each has an endpoint beside the default one. */
  readonly servers: readonly { readonly slug: string; readonly label?: string }[];
  readonly isPublishingOn: boolean;
  /** Shown to whoever runs the gateway. */
  readonly notices: readonly EntryNotice[];
  readonly version: string;
  /** Absent where there is no sign-in. */
  readonly auth: AuthContext | undefined;
}

export async function showConnect(context: ConnectContext, request: Request): Promise<Response> {
  const { origin, notices, auth, isPublishingOn } = context;
  if (!(request.headers.get("accept") ?? "").includes("text/html")) return inPlainText(context);
  const who = auth === undefined ? undefined : await signedIn(auth, request);
  const query = new URL(request.url).searchParams;
  const servers = context.servers.map(({ slug, label = slug }) => ({
    slug,
    name: label,
    endpoint: `${origin}/mcp/${slug}`,
  }));
  const asked = query.get("client") ?? "";
  const view = connectView({
    endpoint: `${origin}/mcp`,
    sseEndpoint: `${origin}/sse`,
    servers,
    server: servers.find(({ slug }) => slug === query.get("server")),
    client: isClientId(asked) ? asked : await suggestedTo(context, request, who),
    notices: auth === undefined || who?.user.isAdmin === true ? notices : [],
    signIn: signInOf(auth),
    isLoopback: isLoopback(new URL(origin).hostname),
    isPublishingOn,
    isAdmin: auth === undefined || who?.user.isAdmin === true,
  });
  return page(view, { origin, headers: new Headers({ Vary: "Accept" }) });
}

async function suggestedTo(
  { origin, auth }: ConnectContext,
  { headers }: Request,
  who: SignedIn | undefined,
): Promise<ClientId> {
  const id = who?.user.id;
  const connected =
    auth === undefined || id === undefined ? [] : await auth.store.ofUser(id).grants.list(id);
  const isPublic = !isLoopback(new URL(origin).hostname);
  return suggestClient({ agent: headers.get("user-agent") ?? "", connected, isPublic });
}

function signInOf(auth: AuthContext | undefined): ConnectSignIn {
  if (auth === undefined) return { kind: "none" };
  const titles = Array.from(auth.providers.values(), providerTitle);
  return { kind: "oauth", with: titles.join(" or ") };
}

function inPlainText({ origin, version }: ConnectContext): Response {
  const text = `Edgeway ${version}, an MCP gateway.

MCP endpoint (Streamable HTTP, every revision):  ${origin}/mcp
For clients of 2024-11-05 (HTTP+SSE):            ${origin}/sse
How to connect a client:                         open ${origin}/ in a browser
`;
  return new Response(text, {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "no-store",
      Vary: "Accept",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
