/** GitHub as a function, because tests cannot use the real one; its answers are as documented. */

import { NO_ONE_ALLOWED } from "../../../../src/auth/identity/allow-list.ts";
import { type GitHubConfig, GitHubProvider } from "../../../../src/auth/identity/github.ts";
import type { ProviderFetch } from "../../../../src/auth/identity/provider-fetch.ts";
import type {
  Departure,
  KnownIdentity,
  SignInResult,
} from "../../../../src/auth/identity/provider.ts";
import type { SeenRequest } from "./fake-oidc.ts";

export const CALLBACK = "https://mcp.example.com/callback/github";
export const STATE = "state-of-the-sign-in";
export const ann: KnownIdentity = {
  issuer: "https://github.com",
  subject: "583231",
  email: "ann@example.com",
};

export class FakeGitHub {
  readonly seen: SeenRequest[] = [];
  token: Record<string, unknown> = { access_token: "gho_1", token_type: "bearer", scope: "a,b" };
  readonly answers = new Map<string, () => Response>([
    ["/user", () => Response.json({ id: 583231, login: "ann", name: "Ann" })],
    [
      "/user/emails",
      () =>
        Response.json([
          { email: "ann@old.example", verified: true, primary: false },
          { email: "ann@example.com", verified: true, primary: true },
        ]),
    ],
    ["/user/memberships/orgs/acme", () => Response.json({ state: "active" })],
  ]);

  readonly fetch: ProviderFetch = async (url, init) => {
    const body = init.body instanceof URLSearchParams ? init.body.toString() : "";
    const { pathname: path, host } = url;
    this.seen.push({ path, headers: new Headers(init.headers), form: new URLSearchParams(body) });
    if (host === "github.com" && path === "/login/oauth/access_token") {
      return Response.json(this.token);
    }
    const answer = host === "api.github.com" ? this.answers.get(path) : undefined;
    return answer?.() ?? Response.json({ message: "Not Found" }, { status: 404 });
  };
}

export function providerAt(fake: FakeGitHub, allow: object, config: Partial<GitHubConfig> = {}) {
  const usual: GitHubConfig = {
    name: "github",
    label: "Continue with GitHub",
    baseUrl: "https://github.com",
    apiUrl: "https://api.github.com",
    clientId: "client",
    clientSecret: "secret",
    scopes: [],
    formActions: [],
    allow: { ...NO_ONE_ALLOWED, ...allow },
    admins: [],
  };
  return new GitHubProvider({ ...usual, ...config }, { fetch: fake.fetch });
}

export async function depart(provider: GitHubProvider, fresh = false): Promise<Departure> {
  const departure = await provider.begin({ state: STATE, callback: CALLBACK, fresh });
  if (departure.kind === "refused") throw new Error(departure.detail);
  return departure;
}

export async function signIn(
  provider: GitHubProvider,
  answer: Record<string, string> = {},
  fresh = false,
): Promise<SignInResult> {
  const { memory } = await depart(provider, fresh);
  const url = new URL(CALLBACK);
  url.search = new URLSearchParams({ code: "code-1", state: STATE, ...answer }).toString();
  return provider.finish({ url, state: STATE, callback: CALLBACK, memory });
}

export async function upkeepOf(provider: GitHubProvider): Promise<string> {
  const result = await signIn(provider);
  if (result.kind === "refused" || result.upkeep === undefined) throw new Error("not signed in");
  return result.upkeep;
}

export const byId = { subjects: ["583231"] };
