/**
 * What a policy says of a URI that is in no list. Names are compared, URIs are read: a server may
 * take several spellings for one place, so what is forbidden is forbidden in all of them.
 */

import { isAllowed, type ItemPolicy } from "../../policy/item-policy.ts";

/**
 * @param template the text of the template that the URI fits. Who allows the template allows what
 *   comes from it; who forbids either forbids the URI.
 */
export function mayUse(policy: ItemPolicy, uri: string, template: string): boolean {
  const { allow, deny } = policy;
  if (allow === undefined && deny.length === 0) return true;
  if (climbs(uri)) return false;
  const deniesOnly: ItemPolicy = { ...policy, allow: undefined };
  if (![template, ...spellings(uri)].every((text) => isAllowed(deniesOnly, text))) return false;
  return isAllowed(policy, uri) || isAllowed(policy, template);
}

/** As it is, without escapes, and as a reader of URLs takes either. */
function spellings(uri: string): readonly string[] {
  const texts = [uri, unescaped(uri)];
  const hrefs = texts.filter((text) => URL.canParse(text)).map((text) => new URL(text).href);
  return [...texts, ...hrefs, ...hrefs.map(unescaped)];
}

/** It has steps up or on the spot: no pattern can tell where it ends. */
function climbs(uri: string): boolean {
  return [uri, unescaped(uri), unescaped(unescaped(uri))].some((text) =>
    /(?:^|[\\/])\.{1,2}(?:[\\/?#]|$)/.test(text),
  );
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a "%" that escapes nothing
  }
}
