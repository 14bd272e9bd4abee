/**
 * Cleans a step before it is stored. Much of it was sent by strangers: texts become short single
 * lines, URIs lose every part that could hold a secret, and anything that looks like a token is
 * masked: people paste tokens into the wrong field, and an operator may read the login doctor's
 * records, but no user's secret.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { isDocumentUrl } from "../clients/client-id-url.ts";
import type { LoginStep } from "./trace.ts";

const MAX_CHARS = 300;
const MAX_ITEMS = 10;
/** Members with strangers' text, beside URIs. */
const FOREIGN: ReadonlySet<string> = new Set(["name", "path", "claimed"]);
/** Members that hold a URI, or a list of them. */
const URIS: ReadonlySet<string> = new Set([
  "redirectUri",
  "redirectUris",
  "registered",
  "resource",
]);

export function cleanStep(step: LoginStep): LoginStep {
  const members = Object.entries(step).map(([name, value]: [string, unknown]) => [
    name,
    cleanValue(value, URIS.has(name) ? bareUri : FOREIGN.has(name) ? masked : short),
  ]);
  return Object.fromEntries(members) as LoginStep;
}

function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((each) => clean(String(each)));
  return value;
}

function masked(text: string): string {
  return short(maskTokens(text));
}

function short(text: string): string {
  return cleanText(text, MAX_CHARS);
}

/** @returns the URI without query, fragment and user information. */
function bareUri(text: string): string {
  if (!URL.canParse(text)) return masked(text.replace(/[?#].*/su, ""));
  const url = new URL(text);
  for (const part of ["search", "hash", "username", "password"] as const) url[part] = "";
  return masked(url.href);
}

/** The shape of a token: letters, digits and the signs of base64url, too many for a word. */
const RUN = /[A-Za-z0-9_~+=-]{16,}/gu;
/** The prefixes that issuers give to their secrets, whatever follows. */
const MARKED =
  /(?<![A-Za-z0-9])(?:sk|pk|rk|whsec|gh[opsur]|github_pat|glpat|xox[a-z]|AKIA|eyJ)[_-]?[A-Za-z0-9_.-]{6,}/gu;
/** Base64 contains slashes too; no path of a client mixes so many letters of both cases and digits. */
const MIXED = /(?=[^\s]*[A-Z])(?=[^\s]*[a-z])(?=[^\s]*\d)[A-Za-z0-9/+=_-]{36,}/gu;
const ESCAPED = /(?:%[0-9A-Fa-f]{2}){4,}/gu;
/** From this length on one digit is enough, and from `TOO_LONG` on none is needed. */
const LONG = 20;
const TOO_LONG = 40;
const MASK = "…";

/**
 * @returns the text without any part that could be a token: a run of characters that contains
 *   digits, as words and names of programs seldom do, or that is longer than those are.
 */
export function maskTokens(text: string): string {
  const unmarked = text.replace(MARKED, MASK).replace(ESCAPED, MASK).replace(MIXED, MASK);
  return unmarked.replace(RUN, (run) => {
    const digits = run.replace(/[^0-9]/g, "").length;
    const isLikely = digits > 1 || (digits === 1 && run.length >= LONG);
    return isLikely || run.length >= TOO_LONG ? MASK : run;
  });
}

/** @returns the part of an unknown client id that may be stored: its host, or its length. */
export function claimedId(clientId: string): { readonly claimed?: string } {
  if (clientId === "") return {};
  if (isDocumentUrl(clientId) && URL.canParse(clientId)) {
    return { claimed: `${maskTokens(new URL(clientId).origin)}/${MASK}` };
  }
  return { claimed: `${clientId.length} characters` };
}
