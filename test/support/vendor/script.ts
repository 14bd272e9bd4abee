/**
 * What a test tells a vendor, and what it hears back: an MCP server `S` that wants tokens, and the
 * authorization server `A` that issues them, with two people. Data only: it crosses from a test inside workerd
 * to a server in Node as JSON. What a script does not say is as a good vendor of 2026 does it.
 */

import type { Json, Script } from "../scripted-upstream-script.ts";

export type VendorUser = "alice" | "bob";

/** What a request is for. `exchange`, `refresh` and `client-credentials` are the token endpoint's. */
export type Place =
  | "resource-metadata"
  | "metadata"
  | "register"
  | "authorize"
  | "exchange"
  | "refresh"
  | "client-credentials"
  | "revoke"
  /** The MCP server itself. */
  | "server"
  /** An address where there is nothing. */
  | "elsewhere";

/**
 * How one request is met, in place of the usual. In texts `{{issuer}}`, `{{resource}}`, `{{server}}`
 * (the origin of `S`) and `{{metadata}}` (of the resource) stand for this vendor's own.
 */
export interface VendorReaction {
  /** The only JSON-RPC method that it meets, at the place `server`. */
  readonly rpc?: string;
  /** The request takes effect first, as usual: a token is rotated, say, though nobody hears of it. */
  readonly takesEffect?: true;
  /** The usual answer with these members changed: of its JSON, or of the query that it redirects to. */
  readonly patch?: Patch;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** `reset` drops the connection, `never` leaves it open, and nothing is sent. */
  readonly end?: "reset" | "never";
  /** The gate that holds the answer back, until the test opens it. */
  readonly heldBy?: string;
  /** The gate that opens when the request comes. */
  readonly opens?: string;
  /** Meets every later request of the place too, not only the next. */
  readonly isLasting?: true;
}

/** `null` removes a member; in a query, a list of texts repeats one. */
export type Patch = Readonly<Record<string, unknown>>;

export interface VendorClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** `client_secret_basic` with a secret, else `none`, if not said. */
  readonly method?: string;
  /** Any, if not said. */
  readonly redirectUris?: readonly string[];
  /** For `private_key_jwt`: its public key. */
  readonly jwk?: Json;
}

interface ServerScript {
  /** What `S` is as an MCP server: of both eras, with a tool `whoami` and one named by the account. */
  readonly mcp?: Script;
  /** The `WWW-Authenticate` fields of a 401. */
  readonly challenges?: readonly string[];
  /** The scopes that a JSON-RPC method demands (`tools/call`), or one tool of it (`tools/call write`). */
  readonly demands?: Readonly<Record<string, readonly string[]>>;
  /** The `WWW-Authenticate` fields of a 403; `{{scope}}` stands for the scopes that were demanded. */
  readonly scopeChallenges?: readonly string[];
  /** JSON-RPC methods that need no token. */
  readonly open?: readonly string[];
  /** Whether a token must have been issued for this resource; it must, if not said. */
  readonly checksAudience?: boolean;
  /** API keys in place of tokens, with their prefix, and whose they are. */
  readonly keys?: Readonly<Record<string, VendorUser>>;
  /** The header that carries them; `authorization` if not said. */
  readonly keyHeader?: string;
  /** The paths where the metadata of the resource is: the well-known one, if not said. */
  readonly resourceMetadataAt?: readonly string[];
}

interface AuthorityScript {
  /** The path of the issuer; none, if not said. */
  readonly issuerPath?: string;
  /** The places of section 3.1 of RFC 8414 and of OpenID Connect Discovery where its metadata is. */
  readonly metadataAt?: readonly ("oauth" | "openid-inserted" | "openid-appended")[];
  /** RFC 7591; it does, if not said. */
  readonly registers?: boolean;
  /** How registered clients are told to authenticate; as they ask, if not said. */
  readonly registersAs?: string;
  /** Client metadata documents: any URL is a client; none is, if not said. */
  readonly takesDocuments?: boolean;
  readonly clients?: readonly VendorClient[];
  /** Who is signed in and approves at once (`alice`, if not said), who refuses, or a page that asks. */
  readonly signedIn?: VendorUser | "nobody" | "page";
  /** Whether responses name the issuer (RFC 9207), and metadata says so; both, if not said. */
  readonly namesItself?: boolean;
  /** The scopes that people may grant; whatever is asked for, if not said. */
  readonly grants?: readonly string[];
  /** `expires_in` in seconds; `null` says none, and the tokens never end. An hour, if not said. */
  readonly expiresIn?: number | null;
  /**
   * `offline`, as Google does: to those that ask with `access_type=offline`, and for a person who has allowed the
   * client before only with `prompt=consent`. `always`, if not said.
   */
  readonly refreshTokens?: "always" | "never" | "offline";
  /**
   * What becomes of a refresh token that is used: it stays (`none`), or another is issued for it. Then a second
   * use is refused, and revokes all tokens of the grant with `revoke-family`, which is so if not said.
   */
  readonly rotation?: "none" | "rotate" | "revoke-family";
  /** How often a refresh token works that was replaced; never, if not said. */
  readonly graceUses?: number;
  /** Whether a refresh ends the access tokens before it. */
  readonly endsAccessTokens?: boolean;
  /** `refused`: a request with `resource` beside a scope is an error, as Entra says. `taken`, if not said. */
  readonly resource?: "taken" | "refused";
  /** Whether id and secret in Basic are form-decoded (RFC 6749 section 2.3.1); they are, if not said. */
  readonly decodesBasic?: boolean;
  /** Token answers are forms where the request does not accept JSON, as GitHub's are. */
  readonly answersForms?: boolean;
  /** Errors of the token endpoint have status 200, as GitHub's have. */
  readonly errorsAreOk?: boolean;
  /** A refresh must name its scope, as Entra wants it. */
  readonly wantsScopeOnRefresh?: boolean;
}

export interface VendorScript extends ServerScript, AuthorityScript {
  /** In order; what comes after the last is met as usual. */
  readonly reactions?: Readonly<Partial<Record<Place, readonly VendorReaction[]>>>;
}

/** One request as the vendor saw it. */
export interface Hit {
  readonly place: Place;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Fields of one name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of query and form together, as they came: a name may stand twice. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** A JSON body. */
  readonly body?: Json;
  /** The status of the answer; 0 while there is none. */
  status: number;
}

/** One token that was issued. */
export interface IssuedToken {
  readonly kind: "access" | "refresh";
  readonly value: string;
  readonly user: VendorUser | undefined;
  readonly clientId: string;
  /** All tokens that come from one approval have one. */
  readonly family: number;
  readonly resource?: string;
  readonly scopes: readonly string[];
  /** `replaced`: a refresh token that was used, and has a successor. */
  state: "live" | "replaced" | "ended";
}

export interface Family {
  readonly id: number;
  readonly user: VendorUser | undefined;
  /** Why all its tokens are worth nothing any more. */
  revoked?: "reuse" | "revocation" | "test";
}

export interface VendorState {
  readonly hits: readonly Hit[];
  readonly tokens: readonly IssuedToken[];
  readonly families: readonly Family[];
  readonly clients: readonly VendorClient[];
}

/** What a test can do to it beside its script. */
export type Command =
  /** Access tokens end at once, of this person or of all; refresh tokens stay. */
  | { readonly kind: "expire"; readonly user?: VendorUser }
  /** All that a person has granted is withdrawn. */
  | { readonly kind: "withdraw"; readonly user?: VendorUser }
  /** The clients that have registered are forgotten. */
  | { readonly kind: "forget-clients" }
  | { readonly kind: "open"; readonly gate: string }
  | { readonly kind: "change"; readonly script: VendorScript }
  /** MCP sessions of `S` end. */
  | { readonly kind: "forget-sessions" }
  /** Writes to the newest standing stream of each account: an event as text. */
  | { readonly kind: "tell"; readonly user: VendorUser; readonly text: string };

/** Where a vendor is. */
export interface VendorPlace {
  readonly id: string;
  /** Of `S`, as the operator configures it. */
  readonly url: string;
  readonly resource: string;
  readonly issuer: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Where vendors are made: `Vendor.take(inject("vendors"), {…})`. */
    vendors: string;
  }
}
