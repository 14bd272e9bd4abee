/**
 * The verdict of a policy on a URI that is in no list. Names are only compared, but a server may accept
 * several spellings of one URI. So a URI is denied if any of its spellings is denied, and allowed only
 * if it is allowed as a URL parser reads it. The price: a URI that differs from a denied one only
 * slightly, for example in case, is not available through a template.
 */

import { Glob } from "../../policy/glob.ts";
import { isAllowed, isOpen, type ItemPolicy } from "../../policy/item-policy.ts";

export type UriVerdict =
  | "allowed"
  | "forbidden"
  /** Allowed if the text of a template that it fits is allowed. */
  | "as-template";

/** A URI may be encoded several times. One that needs more decodings than this is an attack. */
const MAX_DECODINGS = 4;
/** A longer URI is forbidden: all spellings of a URI are computed. */
const MAX_CHARS = 8192;

export function judgeUri(policy: ItemPolicy, uri: string): UriVerdict {
  if (isOpen(policy)) return "allowed";
  const texts = uri.length > MAX_CHARS ? undefined : spellings(uri);
  if (texts === undefined || texts.some(climbs) || isDenied(policy, texts)) return "forbidden";
  const isRead = texts
    .flatMap(hrefOf)
    .every((href) => isAllowed(policy, href) || isAllowed(policy, decoded(href)));
  return isRead && isAllowed(policy, uri) ? "allowed" : "as-template";
}

/**
 * @returns whether a stored subscription may be kept under a policy that may be new. Its template is
 *   not known any more, so if `allow` has templates, their literal beginnings decide.
 */
export function mayKeep(policy: ItemPolicy, uri: string): boolean {
  const verdict = judgeUri(policy, uri);
  if (verdict !== "as-template") return verdict === "allowed";
  const templates = policy.allow?.filter(({ pattern }) => /^[^*?{]*\{/.test(pattern)) ?? [];
  return templates.some(({ pattern }) => uri.startsWith(pattern.slice(0, pattern.indexOf("{"))));
}

/** @returns whether a URI of the template may be forbidden. Only schemes are compared. */
export function mayMeetDeny({ deny }: ItemPolicy, template: string): boolean {
  const scheme = schemeOf(template);
  return deny.some(({ pattern }) => {
    const denied = schemeOf(pattern);
    return scheme === undefined || denied === undefined || scheme === denied;
  });
}

function schemeOf(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0].toLowerCase();
}

/**
 * @returns the URI as it is, without escapes, and both as a URL parser reads them; `undefined` if it is
 *   encoded too many times.
 */
function spellings(uri: string): readonly string[] | undefined {
  const texts = [uri];
  for (let text = decoded(uri); text !== texts.at(-1); text = decoded(text)) {
    if (texts.length > MAX_DECODINGS) return undefined;
    texts.push(text);
  }
  const hrefs = texts.flatMap(hrefOf);
  return [...new Set([...texts, ...hrefs, ...hrefs.map(decoded)])];
}

function hrefOf(text: string): readonly string[] {
  return URL.canParse(text) ? [new URL(text).href] : [];
}

/** The text has `.` or `..` segments, so no pattern can determine the resource. */
function climbs(text: string): boolean {
  return /(?:^|[\\/])\.{1,2}(?:[\\/?#]|$)/.test(text);
}

function isDenied({ deny }: ItemPolicy, texts: readonly string[]): boolean {
  if (deny.length === 0) return false;
  if (texts.some((text) => deny.some((glob) => glob.matches(text)))) return true;
  const plain = [...new Set(texts.flatMap(plainSpellings))];
  return deny.some(({ pattern }) =>
    [...new Set([folded(pattern), folded(decoded(pattern))])]
      .map((text) => new Glob(text))
      .some((glob) => plain.some((text) => glob.matches(text))),
  );
}

/** The spellings that many servers accept for the same resource. */
function plainSpellings(text: string): readonly string[] {
  const whole = folded(text).replaceAll("\\", "/");
  return [whole, whole.replace(/[?#].*$/s, "")].flatMap((place) => {
    const [, start = "", path = ""] = /^([a-z][a-z0-9+.-]*:(?:\/\/)?)?(.*)$/s.exec(place) ?? [];
    const single = start + path.replace(/\/{2,}/g, "/");
    // In "scheme:///path", some read "path" as the authority, and others as the path.
    const rootless = start + path.replace(/\/{2,}/g, "/").replace(/^\//, "");
    return [place, single, start.endsWith("//") ? rootless : single].flatMap((text) => [
      text,
      text.replace(/\/$/, ""),
    ]);
  });
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** The escapes of well-formed UTF-8 (RFC 3629, 4). */
const ESCAPES = new RegExp(
  [
    "%[0-7][0-9a-f]",
    "%(?:c[2-9a-f]|d[0-9a-f])T",
    "%(?:e0%[ab][0-9a-f]|e[1-9a-cef]T|ed%[89][0-9a-f])T",
    "%(?:f0%[9ab][0-9a-f]|f[1-3]T|f4%8[0-9a-f])TT",
  ]
    .join("|")
    .replaceAll("T", "(?:%[89ab][0-9a-f])"),
  "gi",
);

/** Decodes each escape by itself: an invalid one stays as it is and hides no other. */
function decoded(text: string): string {
  return text.replace(ESCAPES, (escapes) => decodeURIComponent(escapes));
}
