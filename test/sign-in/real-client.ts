/**
 * Applications as real ones are: each is given a URL and nothing else, and sends what that
 * application sends. What they have in common is here; what each sends is in the tests.
 */

import { env } from "cloudflare:workers";

import { type Headers, initializeMessage, post, Session } from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { responseIn } from "../integration/event-reader.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { Browser, type Page, type Send } from "../support/oauth-browser.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  authorizeUrl,
  type Gateway,
  newPkce,
  newSecret,
  type Parameters,
  register,
  type RegisteredClient,
  requestToken,
  type Tokens,
  tokensIn,
} from "../support/oauth-requests.ts";
import { fromElsewhere } from "./context.ts";
import { gateway, ORIGIN } from "./gateway.ts";

/** What people paste into their applications. */
export const MCP = `${ORIGIN}/mcp`;

export interface Habits {
  readonly userAgent: string;
  /** What its user knows it by. */
  readonly name: string;
  /** The address of its document, or what it registers with. */
  readonly identity: string | Readonly<Record<string, unknown>>;
  /** Where it listens this time. */
  readonly redirectUri: string;
  /** As it sends it; as the metadata of the endpoint says it, if not said; `null` for not at all. */
  readonly resource?: string | null;
  /** Likewise; by default the scope of the challenge. */
  readonly scope?: string | null;
  readonly state?: string;
  /** What it sends at the token endpoint to prove that it is the client, beside its id. */
  readonly prove?: (client: RegisteredClient) => Parameters | Promise<Parameters>;
}

/** What it learns before it asks anybody for anything. */
export interface Discovery {
  /** The parameters of the challenge. */
  readonly challenge: Readonly<Record<string, string>>;
  readonly resource: Json;
  readonly server: Json;
}

/** As most people have it: one server, to which `/mcp` leads. Before the first request of a file. */
export function serveOneServer(): void {
  const { alpha } = JSON.parse(String(env["MCP_SERVERS"])) as Json;
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ alpha }) });
}

export class RealClient implements Gateway {
  readonly origin = ORIGIN;
  readonly send: Send;
  readonly habits: Habits;
  /** Its user's. */
  readonly browser: Browser;
  client: RegisteredClient = { client_id: "" };
  tokens: Tokens | undefined;
  readonly #state: string;
  #verifier = "";
  #resource: string | undefined;

  constructor(habits: Habits) {
    const address = fromElsewhere();
    const headers = { ...address, "User-Agent": habits.userAgent };
    this.habits = habits;
    this.send = (url, sent) =>
      gateway.send(url, { ...sent, headers: { ...headers, ...sent?.headers } });
    this.browser = new Browser(ORIGIN, (url, sent) =>
      gateway.send(url, { ...sent, headers: { ...address, ...sent.headers } }),
    );
    this.#state = habits.state ?? newSecret();
  }

  /** From nothing to a token. @returns what its user was asked. */
  async connect(): Promise<Page> {
    const page = await this.ask(await this.discover());
    await this.redeem(await this.approve(page));
    return page;
  }

  /** The first request has no token. RFC 9728 section 5, then RFC 8414 section 3. */
  async discover(): Promise<Discovery> {
    const refused = await post(MCP, initializeMessage(), { "User-Agent": this.habits.userAgent });
    await refused.text();
    const parameters = refused.headers.get("www-authenticate")?.matchAll(/(\w+)="([^"]*)"/g) ?? [];
    const challenge = Object.fromEntries(
      [...parameters].map(([, name = "", value = ""]) => [name, value]),
    );
    if (refused.status !== 401) throw new Error(`Not challenged: ${refused.status}`);
    const resource = await this.#json(challenge["resource_metadata"] ?? "");
    const [issuer] = resource["authorization_servers"] as readonly string[];
    const server = await this.#json(`${issuer}/.well-known/oauth-authorization-server`);
    // RFC 8414 section 3.3 and RFC 9728 section 3.3: clients MUST compare these.
    if (server["issuer"] !== issuer || resource["resource"] !== MCP) throw new Error("Mismatch");
    return { challenge, resource, server };
  }

  async #json(url: string): Promise<Json> {
    const response = await this.send(url, { headers: { Accept: "application/json" } });
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    return response.json();
  }

  /** Registers if it has to, and sends its user to the gateway. */
  async ask({ challenge, resource, server }: Discovery): Promise<Page> {
    const { identity, redirectUri, scope = challenge["scope"] } = this.habits;
    const isByDocument = server["client_id_metadata_document_supported"] === true;
    if (typeof identity !== "string") this.client = await register(this, identity);
    else if (isByDocument) this.client = { client_id: identity };
    const { resource: meant = String(resource["resource"]) } = this.habits;
    this.#resource = meant ?? undefined;
    const pkce = await newPkce();
    this.#verifier = pkce.verifier;
    return this.browser.visit(
      authorizeUrl(this, {
        ...{ client_id: this.client.client_id, redirect_uri: redirectUri, state: this.#state },
        ...{ code_challenge: pkce.challenge, resource: this.#resource, scope: scope ?? undefined },
      }),
    );
  }

  /** Its user approves, and signs in. @returns what comes back to where it listens. */
  async approve(page: Page): Promise<URLSearchParams> {
    const asked = await this.browser.submit(page, { button: "Approve" });
    const answered =
      asked.left === undefined
        ? await this.browser.submit(asked, { fields: { code: OWNER_CODE } })
        : asked;
    const { left } = answered;
    if (left?.href.startsWith(`${this.habits.redirectUri}?`) !== true) {
      throw new Error(`Not at ${this.habits.redirectUri} but at ${String(left)}: ${answered.text}`);
    }
    return left.searchParams;
  }

  async redeem(answer: URLSearchParams): Promise<void> {
    // RFC 9207: whose answer it is.
    const isOurs = answer.get("state") === this.#state && answer.get("iss") === ORIGIN;
    if (!isOurs) throw new Error(`Somebody else's answer: ${answer.toString()}`);
    await this.#obtain({
      ...{ grant_type: "authorization_code", code: answer.get("code") ?? undefined },
      ...{ code_verifier: this.#verifier, redirect_uri: this.habits.redirectUri },
    });
  }

  async refresh(): Promise<void> {
    await this.#obtain({
      grant_type: "refresh_token",
      refresh_token: this.tokens?.refresh_token,
    });
  }

  async #obtain(parameters: Parameters): Promise<void> {
    this.tokens = await tokensIn(await this.askForToken(parameters));
  }

  async askForToken(parameters: Parameters): Promise<Response> {
    const proof = (await this.habits.prove?.(this.client)) ?? {};
    const usual = { client_id: this.client.client_id, resource: this.#resource };
    return requestToken(this, { ...parameters, ...usual, ...proof });
  }

  /** What it sends to the endpoint. */
  get headers(): Headers {
    const { userAgent } = this.habits;
    return { Authorization: `Bearer ${this.tokens?.access_token}`, "User-Agent": userAgent };
  }

  /** One call of a tool. @returns its text. */
  async useTool(): Promise<unknown> {
    const session = await Session.open(MCP, { headers: this.headers });
    return (await responseIn(await session.callTool())).result;
  }
}
