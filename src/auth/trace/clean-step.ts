/**
 * Cleans a step before it is stored. Much of it was sent by strangers: texts become short single
 * lines, URIs lose every part that could hold a secret, and anything that looks like a token is
 * masked.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { maskTokens } from "./mask.ts";
import type { LoginStepView } from "./trace.ts";

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

export function cleanStep(step: LoginStepView): LoginStepView {
  const members = Object.entries(step).map(([name, value]: [string, unknown]) => [
    name,
    cleanValue(value, URIS.has(name) ? bareUri : FOREIGN.has(name) ? masked : short),
  ]);
  return Object.fromEntries(members) as LoginStepView;
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
