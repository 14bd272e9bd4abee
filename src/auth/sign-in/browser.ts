/**
 * The person at a browser: the session in its cookie, and whether a form was sent on purpose. The
 * cookie counts on pages alone; endpoints that accept tokens do not read it.
 */

import { readText, TooLargeError } from "../../lib/read-text.ts";
import { mediaType } from "../../lib/media-type.ts";
import { isSame } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import { cookie, noCookie, readCookies } from "../cookies.ts";
import type { BrowserSession } from "../store/browser-sessions.ts";
import { type CurrentUser, currentUser, type User } from "../store/users.ts";
import type { SignInResult } from "../identity/provider.ts";

const SESSION_COOKIE = "__Host-edgeway-session";
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const MAX_FORM_BYTES = 16 * 1024;
const HOUR_SECONDS = 3600;

export interface SignedIn {
  readonly session: BrowserSession;
  readonly user: CurrentUser;
  /** The value of `csrf` in every form of this session. */
  readonly formToken: string;
  /** What a proxy in front of the gateway says of the same person, where there is one. */
  readonly identified: Identified | undefined;
}

/** @returns the secret in the browser's cookie, if it has the shape of one. */
function sessionSecret(request: Request): string | undefined {
  const secret = readCookies(request).get(SESSION_COOKIE);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

export function sessionCookie(secret: string, { limits }: Pick<AuthContext, "limits">): string {
  return cookie(SESSION_COOKIE, secret, limits.browserSessionHours * HOUR_SECONDS);
}

export const NO_SESSION_COOKIE = noCookie(SESSION_COOKIE);

/**
 * @returns the signed-in person, if the session lasts and the current configuration admits its
 *   user.
 */
export async function signedIn(
  context: AuthContext,
  request: Request,
): Promise<SignedIn | undefined> {
  const secret = sessionSecret(request);
  if (secret === undefined) return undefined;
  const shard = context.store.ofUser(secret);
  const session = await shard.sessions.find(secret);
  if (session === undefined) return undefined;
  const [known, secrets] = await Promise.all([shard.users.find(session.user), context.secrets()]);
  const user = await currentUser(context, known, session.codeMac);
  if (user === undefined) return undefined;
  const identified = await identify(context, request);
  if (identified !== undefined && isSomebodyElse(identified, user)) return undefined;
  return { session, user, formToken: await secrets.formToken(secret), identified };
}

/**
 * Where a proxy in front of the gateway identifies the person of each request, that identity
 * decides: another person's session in the same browser is not used.
 */
function isSomebodyElse({ result }: Identified, { issuer, subject }: User): boolean {
  if (result.kind === "refused") return true;
  const { identity } = result;
  return identity.issuer !== issuer || identity.subject !== subject;
}

/** Ends the session of a browser, of any user. */
export async function endSession({ store }: AuthContext, request: Request): Promise<void> {
  const secret = sessionSecret(request);
  if (secret !== undefined) await store.ofUser(secret).sessions.end(secret);
}

/** @returns whether the sign-in is recent enough for actions that give lasting access. */
export function isFresh(
  { limits }: Pick<AuthContext, "limits">,
  { authenticatedAt }: Pick<BrowserSession, "authenticatedAt">,
): boolean {
  return Date.now() - authenticatedAt < limits.freshSignInMinutes * 60_000;
}

/**
 * @returns whether at least half of the time is left in which the sign-in is recent enough. A form that takes one, and
 *   some minutes to be filled in, is given out only then: sent too late, it would lose what was typed.
 */
export function isFreshForForm(
  { limits }: Pick<AuthContext, "limits">,
  { authenticatedAt }: Pick<BrowserSession, "authenticatedAt">,
): boolean {
  return Date.now() - authenticatedAt <= (limits.freshSignInMinutes * 60_000) / 2;
}

/**
 * @returns the path to which a browser is redirected to sign in. @param to a path of this gateway,
 *   to return to.
 */
export function signInPath(to: string, isFreshNeeded = false): string {
  const query = new URLSearchParams({ to, ...(isFreshNeeded && { fresh: "1" }) });
  return `/login?${query.toString()}`;
}

/**
 * @returns whether a form was sent from a page of another origin. Our pages send no referrer, and
 *   browsers then write `Origin: null` (Fetch, "append a request Origin header"): that is no
 *   evidence, and `Sec-Fetch-Site` is. Where neither is, the cookie and the form token decide.
 */
export function isForeign(request: Request, origin: string): boolean {
  const from = request.headers.get("origin") ?? "null";
  if (from !== "null") return from !== origin;
  const site = request.headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/** @returns whether a form contains the token of its session. */
export function hasFormToken(form: URLSearchParams, { formToken }: SignedIn): boolean {
  return isSame(form.get("csrf") ?? "", formToken);
}

/** @returns `undefined` for a body that is not a form, or is larger than the form can be. */
export async function readForm(
  request: Request,
  maxBytes: number = MAX_FORM_BYTES,
): Promise<URLSearchParams | undefined> {
  const type = mediaType(request.headers.get("content-type"));
  if (type !== "application/x-www-form-urlencoded") return undefined;
  try {
    return new URLSearchParams(await readText(request.body, maxBytes));
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}

export interface Identified {
  /** The name of that provider. */
  readonly provider: string;
  readonly result: SignInResult;
}

/**
 * Identifies the sender of a request where a proxy in front of the gateway has signed the identity.
 *
 * @returns `undefined` when no provider identifies the request, which is usual.
 */
export async function identify(
  { providers }: Pick<AuthContext, "providers">,
  { headers }: Request,
): Promise<Identified | undefined> {
  for (const provider of providers.values()) {
    if (provider.kind !== "header") continue;
    const result = await provider.identify(headers);
    if (result !== undefined) return { provider: provider.name, result };
  }
  return undefined;
}
