/**
 * Who sits at a browser: the session in its cookie, and whether what it sends was meant. The cookie
 * counts on pages alone; where tokens are taken, nobody looks at it.
 */

import { readText, TooLargeError } from "../../lib/read-text.ts";
import { mediaType } from "../../lib/media-type.ts";
import { isSame } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import { cookie, noCookie, readCookies } from "../cookies.ts";
import type { BrowserSession } from "../store/browser-sessions.ts";
import { type CurrentUser, currentUser } from "../store/standing.ts";
import type { User } from "../store/users.ts";
import { identify } from "./identify.ts";

const SESSION_COOKIE = "__Host-edgeway-session";
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const MAX_FORM_BYTES = 16 * 1024;
const HOUR_SECONDS = 3600;

export interface SignedIn {
  readonly session: BrowserSession;
  readonly user: CurrentUser;
  /** What every form of this session carries as `csrf`. */
  readonly formToken: string;
}

/** The secret that a browser holds, if what it sends has the shape of one. */
function sessionSecret(request: Request): string | undefined {
  const secret = readCookies(request).get(SESSION_COOKIE);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

export function sessionCookie(secret: string, { limits }: Pick<AuthContext, "limits">): string {
  return cookie(SESSION_COOKIE, secret, limits.browserSessionHours * HOUR_SECONDS);
}

export const NO_SESSION_COOKIE = noCookie(SESSION_COOKIE);

/** @returns who is signed in, if the session lasts and its user is let in today. */
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
  if (await isSomebodyElse(context, request, user)) return undefined;
  return { session, user, formToken: await secrets.formToken(secret) };
}

/**
 * Where something in front of the gateway says of each request who sends it, that is the last word:
 * a session that somebody else left behind is not taken up.
 */
async function isSomebodyElse(
  context: AuthContext,
  request: Request,
  { issuer, subject }: User,
): Promise<boolean> {
  const found = await identify(context, request);
  if (found === undefined) return false;
  if (found.result.kind === "refused") return true;
  const { identity } = found.result;
  return identity.issuer !== issuer || identity.subject !== subject;
}

/** Ends the session of a browser, whoever it is of. */
export async function endSession({ store }: AuthContext, request: Request): Promise<void> {
  const secret = sessionSecret(request);
  if (secret !== undefined) await store.ofUser(secret).sessions.end(secret);
}

/** Whether somebody signed in lately enough for what gives lasting access. */
export function isFresh(
  { limits }: Pick<AuthContext, "limits">,
  { authenticatedAt }: Pick<BrowserSession, "authenticatedAt">,
): boolean {
  return Date.now() - authenticatedAt < limits.freshSignInMinutes * 60_000;
}

/** Where to send a browser that has to sign in first. @param to a path of ours, to come back to. */
export function signInPath(to: string, isFreshNeeded = false): string {
  const query = new URLSearchParams({ to, ...(isFreshNeeded && { fresh: "1" }) });
  return `/login?${query.toString()}`;
}

/**
 * Whether a form was sent from a page of another origin. Our pages send no referrer, and browsers
 * then write `Origin: null` (Fetch, "append a request Origin header"): that says nothing, and
 * `Sec-Fetch-Site` does. Where neither says anything, the cookie and what the form holds decide.
 */
export function isForeign(request: Request, origin: string): boolean {
  const from = request.headers.get("origin") ?? "null";
  if (from !== "null") return from !== origin;
  const site = request.headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/** @returns whether a form has the token of the session that it came with. */
export function hasFormToken(form: URLSearchParams, { formToken }: SignedIn): boolean {
  return isSame(form.get("csrf") ?? "", formToken);
}

/** @returns `undefined` for a body that is no form, or is larger than any of ours. */
export async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  const type = mediaType(request.headers.get("content-type"));
  if (type !== "application/x-www-form-urlencoded") return undefined;
  try {
    return new URLSearchParams(await readText(request.body, MAX_FORM_BYTES));
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}
