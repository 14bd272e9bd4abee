/** The requests to GitHub: for a token, and for the person that it belongs to. */

import { tryJson } from "../../lib/try-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { isEmail } from "./allow-list.ts";
import { sentenceOf } from "./oidc-failure.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import { DeadTokenError, SignInError } from "./sign-in-error.ts";
import type { Upkeep } from "./upkeep.ts";

export interface GitHubPlace {
  /** The origin that people sign in at. */
  readonly baseUrl: string;
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export class GitHubApi {
  readonly #place: GitHubPlace;
  readonly #fetch: ProviderFetch;

  constructor(place: GitHubPlace, fetch: ProviderFetch) {
    this.#place = place;
    this.#fetch = fetch;
  }

  /** @param grant the fields beside the client's. */
  async token(grant: Readonly<Record<string, string>>): Promise<Upkeep> {
    const { baseUrl, clientId, clientSecret } = this.#place;
    const response = await this.#fetch(new URL(`${baseUrl}/login/oauth/access_token`), {
      method: "POST",
      headers: { Accept: "application/json", "User-Agent": USER_AGENT },
      body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...grant }),
    });
    const body = await readObject(response);
    // GitHub sends errors with status 200, so the field is checked first.
    if (body["error"] !== undefined) throw tokenError(body["error"]);
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetime } = body;
    if (!response.ok || typeof accessToken !== "string" || accessToken === "") throw unreadable();
    return {
      accessToken,
      ...(typeof refreshToken === "string" && { refreshToken }),
      ...(typeof lifetime === "number" && { accessExpiresAt: Date.now() / 1000 + lifetime }),
    };
  }

  /** @throws DeadTokenError when the token is withdrawn, or the account suspended. */
  async user(token: string): Promise<{ subject: string; name: unknown }> {
    const response = await this.#get("/user", token);
    if (response.status === 401 || response.status === 403) {
      throw new DeadTokenError("provider-error", "GitHub does not take the token any more.");
    }
    const { id, name, login } = await readObject(response);
    // A login name can be released and taken by another account; the number cannot.
    if (!response.ok || typeof id !== "number" || !Number.isSafeInteger(id)) throw unreadable();
    return { subject: String(id), name: name ?? login };
  }

  /** @returns the verified primary address; `undefined` also when the app may not read it. */
  async email(token: string): Promise<string | undefined> {
    const response = await this.#get("/user/emails", token);
    if (!response.ok) return undefined;
    const list = tryJson(await response.text());
    if (!Array.isArray(list)) throw unreadable();
    const found: unknown = list.find(
      (entry) => isObject(entry) && entry["verified"] === true && entry["primary"] === true,
    );
    const email = isObject(found) ? found["email"] : undefined;
    return typeof email === "string" && isEmail(email) ? email : undefined;
  }

  /**
   * @returns those of these organizations of which the person is an active member: an invitation is
   *   not a membership.
   */
  async memberships(token: string, organizations: readonly string[]): Promise<readonly string[]> {
    const joined: string[] = [];
    for (const organization of organizations) {
      const path = `/user/memberships/orgs/${encodeURIComponent(organization)}`;
      const response = await this.#get(path, token);
      if (!response.ok) continue;
      const { state } = await readObject(response);
      if (state === "active") joined.push(organization);
    }
    return joined;
  }

  async #get(path: string, token: string): Promise<Response> {
    const response = await this.#fetch(new URL(`${this.#place.apiUrl}${path}`), {
      headers: {
        Accept: "application/vnd.github+json",
        Authorization: `Bearer ${token}`,
        "User-Agent": USER_AGENT,
        "X-GitHub-Api-Version": "2022-11-28",
      },
    });
    // GitHub's rate limits also have status 403, and say nothing about the person.
    const { status, headers } = response;
    if (
      status === 403 &&
      (headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after"))
    ) {
      throw new SignInError("provider-unreachable", "GitHub asks to slow down.");
    }
    return response;
  }
}

/** GitHub refuses requests without one. */
const USER_AGENT = "edgeway";

const TOKEN_ERRORS: Readonly<Record<string, string>> = {
  bad_verification_code: "GitHub does not take the code: used, or expired.",
  incorrect_client_credentials: 'GitHub refused the client; check "clientId" and "clientSecret".',
  redirect_uri_mismatch: "The callback address is not the one that is registered at GitHub.",
  unverified_user_email: "GitHub wants the person to verify their address there first.",
};
/** The error codes of a dead token: the first is GitHub's own for `invalid_grant`. */
const ENDS: ReadonlySet<unknown> = new Set(["bad_refresh_token", "invalid_grant"]);

function tokenError(code: unknown): SignInError {
  if (ENDS.has(code)) {
    return new DeadTokenError("provider-error", sentenceOf("invalid_grant"));
  }
  const word = typeof code === "string" ? code : "";
  const known = Object.hasOwn(TOKEN_ERRORS, word) ? TOKEN_ERRORS[word] : undefined;
  return new SignInError("provider-error", known ?? sentenceOf(word));
}

async function readObject(response: Response): Promise<JsonObject> {
  const body = tryJson(await response.text());
  if (!isObject(body)) throw unreadable();
  return body;
}

function unreadable(): SignInError {
  return new SignInError("provider-error", "GitHub's answer is not of the kind that it documents.");
}
