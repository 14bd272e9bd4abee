/** An identity provider that a test plays: it follows its script, and records its requests. */

import type {
  Departure,
  HeaderProvider,
  Identity,
  KnownIdentity,
  Recheck,
  RedirectProvider,
  SignInRefused,
  ProviderReturn,
  SignInResult,
  Standing,
  Start,
} from "../../src/auth/identity/provider.ts";
import { PEOPLE_PROVIDER } from "../support/oauth-owner.ts";
import { signInRefused } from "../../src/auth/identity/sign-in-error.ts";

export const ADA: Identity = {
  issuer: PEOPLE_PROVIDER.team,
  subject: "ada",
  name: "Ada",
  email: "ada@example.com",
  isAdmin: false,
};

/** @param authTime in seconds since 1970; just now by default. */
export function known(identity: Identity, authTime?: number): SignInResult {
  return {
    ...{ kind: "identity", identity, upkeep: "upkeep-secret" },
    authTime: authTime ?? Math.floor(Date.now() / 1000),
  };
}

/** A person whom no other test knows. */
export function stranger(change: Partial<Identity> = {}): Identity {
  return { ...ADA, subject: crypto.randomUUID(), ...change };
}

export class FakeProvider implements RedirectProvider {
  readonly kind = "redirect";
  readonly name: string;
  readonly label: string;
  readonly started: Start[] = [];
  /** Each is a request of a token endpoint. */
  readonly finished: ProviderReturn[] = [];
  result: SignInResult;
  isReachable = true;

  constructor(name: string, result: SignInResult = known(stranger())) {
    this.name = name;
    this.label = `Continue with ${name}`;
    this.result = result;
  }

  get origin(): string {
    return `https://${this.name}.idp.example`;
  }

  formActions(): Promise<readonly string[]> {
    return Promise.resolve([this.origin]);
  }

  begin(start: Start): Promise<Departure | SignInRefused> {
    this.started.push(start);
    if (!this.isReachable)
      return Promise.resolve(signInRefused("provider-unreachable", "It is down."));
    const query = new URLSearchParams({ state: start.state, redirect_uri: start.callback });
    return Promise.resolve({
      kind: "go",
      location: `${this.origin}/authorize?${query.toString()}`,
      memory: { verifier: `verifier-of-${this.name}` },
    });
  }

  finish(end: ProviderReturn): Promise<SignInResult> {
    this.finished.push(end);
    return Promise.resolve(this.result);
  }

  /** Every person whom it names is admitted with that identity. */
  standing({ subject }: KnownIdentity): Promise<Standing | undefined> {
    const { result } = this;
    const isNamed = result.kind === "identity" && result.identity.subject === subject;
    return Promise.resolve({ isAdmin: isNamed && result.identity.isAdmin });
  }

  recheck(): Promise<Recheck> {
    return Promise.resolve({ kind: "alive" });
  }

  /** The URL to which it redirects the browser back. */
  wayBack(location: string | URL | undefined): string {
    const { searchParams: query } = new URL(location ?? "about:blank");
    const state = encodeURIComponent(query.get("state") ?? "");
    return `${query.get("redirect_uri") ?? ""}?code=code-of-${this.name}&state=${state}`;
  }
}

/** A proxy in front of the gateway: its header names the user that it admits. */
export class FakeAccess implements HeaderProvider {
  readonly kind = "header";
  readonly name = "access";
  readonly label = "Cloudflare Access";
  readonly signOutUrl = "https://acme.cloudflareaccess.example/cdn-cgi/access/logout";
  readonly people: Readonly<Record<string, SignInResult>>;

  constructor(people: Readonly<Record<string, SignInResult>>) {
    this.people = people;
  }

  identify(headers: Headers): Promise<SignInResult | undefined> {
    return Promise.resolve(this.people[headers.get("cf-access-jwt-assertion") ?? ""]);
  }

  standing(): Promise<Standing | undefined> {
    return Promise.resolve({ isAdmin: false });
  }

  recheck(): Promise<Recheck> {
    return Promise.resolve({ kind: "alive" });
  }
}
