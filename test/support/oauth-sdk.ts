/** An application on an official SDK that signs its user in: what both SDKs have in common. */

import type { Json } from "./clients-face.ts";
import { newSecret, REDIRECT_URI } from "./oauth-requests.ts";

/** One connection to a server, of whichever SDK. */
export interface SdkConnection {
  /** @throws Unauthorized once the user has been sent to sign in. */
  connect(): Promise<void>;
  /** Takes what the user came back with. The connection is of no use after it. */
  finish(answer: URLSearchParams): Promise<void>;
  callTool(name: string): Promise<Json>;
  close(): Promise<void>;
}

export interface SdkKind {
  readonly name: string;
  /** Where it finds the gateway. */
  readonly path: string;
  /** What `connect` throws when the user has to sign in. */
  readonly Unauthorized: new () => Error;
  /** @param opens opens a page for the user, who agrees to that; an application without it cannot. */
  open(url: URL, keychain: Keychain, fetch: Fetch, opens?: (page: string) => void): SdkConnection;
}

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

interface KeptTokens {
  access_token: string;
  token_type: string;
  refresh_token?: string;
}

/** What an application keeps of its sign-in. Its shape is that of both SDKs' `OAuthClientProvider`. */
export class Keychain {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata = {
    client_name: "SDK client",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  /** Where the user was sent to sign in, each time. */
  readonly redirects: URL[] = [];
  kept: KeptTokens | undefined;
  #client: { client_id: string } | undefined;
  #verifier = "";

  state(): string {
    return newSecret();
  }

  clientInformation(): { client_id: string } | undefined {
    return this.#client;
  }

  saveClientInformation(client: { client_id: string }): void {
    this.#client = client;
  }

  tokens(): KeptTokens | undefined {
    return this.kept;
  }

  saveTokens(tokens: KeptTokens): void {
    this.kept = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.redirects.push(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  invalidateCredentials(scope: string): void {
    if (scope === "all" || scope === "tokens") this.kept = undefined;
    if (scope === "all" || scope === "client") this.#client = undefined;
  }

  /** Makes the access token one that is not good, as time does. */
  spoil(name: "access_token" | "refresh_token"): void {
    if (this.kept !== undefined) this.kept = { ...this.kept, [name]: `spoilt-${newSecret()}` };
  }
}

/** `fetch`, with a note of every registration, and of every token request: its grant type. */
export class Wire {
  readonly notes: string[] = [];
  readonly #send: Fetch;

  constructor(send: Fetch = fetch) {
    this.#send = send;
  }

  readonly fetch: Fetch = async (input, init) => {
    const { pathname } = new URL(input);
    if (pathname === "/register") this.notes.push("register");
    if (pathname === "/token") {
      const form = new URLSearchParams(await new Request(input, init).text());
      this.notes.push(form.get("grant_type") ?? "");
    }
    return this.#send(input, init);
  };

  /** @returns the notes since it was last asked. */
  take(): readonly string[] {
    return this.notes.splice(0);
  }
}
