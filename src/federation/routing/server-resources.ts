/**
 * Which URIs a server's catalog speaks for: those that it lists, those that its tools point at, and
 * those that fit its templates. Made once for each catalog, and gone with it.
 */

import { tryJson } from "../../lib/try-json.ts";
import type { ItemPolicy } from "../../policy/item-policy.ts";
import { isAllowed } from "../../policy/item-policy.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Catalog, Item } from "../catalog/catalog.ts";
import { mayUse } from "./judge-uri.ts";
import { UriTemplate } from "./uri-template.ts";

/** For one look-up in one catalog; whoever has templates that take more has them in vain. */
const MAX_STEPS = 10_000_000;

export class ServerResources {
  readonly #uris: ReadonlySet<string>;
  readonly #templates: readonly (readonly [text: string, template: UriTemplate])[];

  private constructor({ lists }: Catalog) {
    const listed = lists.resources.map(({ name }) => name);
    this.#uris = new Set([...listed, ...lists.tools.flatMap(urisOfTool)]);
    this.#templates = lists.templates.flatMap(({ name }) => {
      const template = UriTemplate.parse(name);
      return template === undefined ? [] : [[name, template] as const];
    });
  }

  static readonly #made = new WeakMap<Catalog, ServerResources>();

  static of(catalog: Catalog): ServerResources {
    let made = ServerResources.#made.get(catalog);
    if (made === undefined)
      ServerResources.#made.set(catalog, (made = new ServerResources(catalog)));
    return made;
  }

  /** It is in a list, and may be seen there. */
  lists(uri: string, policy: ItemPolicy): boolean {
    return this.#uris.has(uri) && isAllowed(policy, uri);
  }

  /** A template that may be seen, by its own text. */
  listsTemplate(text: string, policy: ItemPolicy): boolean {
    return this.#templates.some(([listed]) => listed === text) && isAllowed(policy, text);
  }

  fits(uri: string, policy: ItemPolicy): boolean {
    let steps = 0;
    for (const [text, template] of this.#templates) {
      if (!template.mayMatch(uri)) continue;
      steps += template.costOf(uri);
      if (steps > MAX_STEPS) return false;
      if (template.matches(uri) && mayUse(policy, uri, text)) return true;
    }
    return false;
  }
}

/**
 * What a tool shows its results with (MCP Apps, and its forerunners): such resources are seldom
 * listed, so the tool is what says whose they are.
 */
function urisOfTool({ text }: Item): readonly string[] {
  // Few tools have one, and a catalog may have thousands.
  if (!/resourceUri|outputTemplate/.test(text)) return [];
  const tool = tryJson(text);
  const meta: JsonObject = isObject(tool) && isObject(tool["_meta"]) ? tool["_meta"] : {};
  const ui: JsonObject = isObject(meta["ui"]) ? meta["ui"] : {};
  const uris = [ui["resourceUri"], meta["ui/resourceUri"], meta["openai/outputTemplate"]];
  return uris.filter((uri) => typeof uri === "string");
}
