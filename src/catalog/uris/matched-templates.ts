/** Which templates of a server find its resources. A server may list more than a request can look through. */

import type { Item } from "../catalog.ts";
import { MAX_EXPRESSIONS, UriTemplate } from "./uri-template.ts";

/** Of one server, the first in its order. */
const MAX_TEMPLATES = 1000;
/** Longer templates are not matched. */
const MAX_TEMPLATE_CHARS = 2048;

export function matched(templates: readonly Item[]): readonly Item[] {
  return templates
    .filter(({ name }) => name.length <= MAX_TEMPLATE_CHARS && !UriTemplate.isCostly(name))
    .slice(0, MAX_TEMPLATES);
}

/** @returns a sentence for the user, if not every template tells what is the server's. */
export function templateFlaws(slug: string, templates: readonly Item[]): readonly string[] {
  const others = templates.length - matched(templates).length;
  if (others === 0) return [];
  return [
    `Upstream "${slug}" has ${others} resource templates that are listed but find no resource: the first ${MAX_TEMPLATES} do, of ${MAX_EXPRESSIONS} expressions and ${MAX_TEMPLATE_CHARS} characters at most`,
  ];
}
