/** An application that requests access in a user's browser, step by step. */

import type { Browser, Page } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  authorizeUrl,
  newPkce,
  newSecret,
  type Parameters,
  PUBLIC_CLIENT,
  REDIRECT_URI,
  register,
  type RegisteredClient,
  requestToken,
  type Tokens,
  tokensIn,
} from "../support/oauth-requests.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf, type SignInOptions, signInGateway } from "./sign-in-gateway.ts";

export const WEB_REDIRECT = "https://app.client.example/cb";
export const WEB_CLIENT = { ...PUBLIC_CLIENT, redirect_uris: [WEB_REDIRECT] };

export class Asking {
  readonly client: RegisteredClient;
  readonly redirectUri: string;
  readonly state = newSecret();
  readonly verifier: string;
  readonly #challenge: string;
  readonly #options: SignInOptions;

  private constructor(
    client: RegisteredClient,
    redirectUri: string,
    { verifier, challenge }: { verifier: string; challenge: string },
    options: SignInOptions,
  ) {
    this.client = client;
    this.redirectUri = redirectUri;
    this.verifier = verifier;
    this.#challenge = challenge;
    this.#options = options;
  }

  /** @param metadata of an application that registers; or one that is known. */
  static async begin(
    metadata: Readonly<Record<string, unknown>> = PUBLIC_CLIENT,
    options: SignInOptions = {},
  ): Promise<Asking> {
    const client =
      metadata["client_id"] === undefined
        ? await register(signInGateway(options), metadata)
        : (metadata as RegisteredClient);
    const [redirectUri = REDIRECT_URI] = (metadata["redirect_uris"] as string[] | undefined) ?? [];
    return new Asking(client, redirectUri, await newPkce(), options);
  }

  /** @param changes `undefined` leaves a parameter out. */
  url(changes: Parameters = {}): string {
    return authorizeUrl(
      { origin: ORIGIN },
      {
        client_id: this.client.client_id,
        redirect_uri: this.redirectUri,
        code_challenge: this.#challenge,
        state: this.state,
        resource: `${ORIGIN}/mcp`,
        scope: "mcp",
        ...changes,
      },
    );
  }

  visit(changes: Parameters = {}, browser: Browser = browserOf(this.#options)): Promise<Page> {
    return browser.visit(this.url(changes));
  }

  /** @returns the tokens for the code that a browser was sent away with. */
  async tokens({ left }: Page): Promise<Tokens> {
    return tokensIn(await this.redeem(left ?? "about:blank"));
  }

  /** Redeems the code of an address. @returns the answer of the token endpoint. */
  redeem(location: string | URL): Promise<Response> {
    return requestToken(signInGateway(this.#options), {
      grant_type: "authorization_code",
      client_id: this.client.client_id,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      code: new URL(location).searchParams.get("code") ?? "",
    });
  }
}

/** A browser in which the owner is signed in. */
export async function ownersBrowser(options: SignInOptions = {}): Promise<Browser> {
  const browser = browserOf(options);
  await signIn(browser, OWNER_CODE);
  return browser;
}

/** The parameters of a redirect to the application. */
export function answerIn(location: string | URL | null | undefined): Record<string, string> {
  return Object.fromEntries(new URL(location ?? "about:blank").searchParams);
}
