/**
 * Which URIs a server speaks for: those that it lists, those that its tools point at, and those that
 * fit its templates. Made once for each catalog, and gone with it. Servers choose how many templates
 * they have and what they look like, so most of that is kept as text, and not all is looked at: what
 * is beyond is listed, and can be completed, but no request finds its server by it.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isAllowed, type ItemPolicy } from "../../policy/item-policy.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Catalog, Item } from "../catalog/catalog.ts";
import { shows } from "../catalog/lookups.ts";
import type { Server } from "../server.ts";
import { judgeUri, type UriVerdict } from "./judge-uri.ts";
import type { Steps } from "./steps.ts";
import { MAX_EXPRESSIONS, UriTemplate } from "./uri-template.ts";

/** Of one server, the first in its order. */
const MAX_TEMPLATES = 1000;
/** A longer one is looked at by nobody. */
const MAX_TEMPLATE_CHARS = 2048;
/** Steps for each character of a URI that is judged. */
const JUDGING = 2;

/** Templates that begin alike. */
interface Family {
  readonly prefix: string;
  /** As RFC 6570 expands it. */
  readonly encoded: string;
  readonly texts: string[];
}

export class ServerResources {
  readonly #server: Server;
  readonly #catalog: Catalog;
  readonly #uris: ReadonlySet<string>;
  /** Those with the longest prefix first: it says the most. */
  readonly #families: readonly Family[];
  readonly #parsed = new Map<string, UriTemplate | undefined>();

  private constructor(server: Server, catalog: Catalog) {
    const { resources, tools, templates } = catalog.lists;
    this.#server = server;
    this.#catalog = catalog;
    // What may not be called points at nothing.
    const callable = tools.filter(({ name }) => isAllowed(server.tools, name));
    this.#uris = new Set([...resources.map(({ name }) => name), ...callable.flatMap(urisOfTool)]);
    this.#families = familiesOf(templates);
  }

  static readonly #made = new WeakMap<Catalog, WeakMap<Server, ServerResources>>();

  static of(server: Server, catalog: Catalog): ServerResources {
    const byServer = ServerResources.#made.get(catalog) ?? new WeakMap<Server, ServerResources>();
    ServerResources.#made.set(catalog, byServer);
    let made = byServer.get(server);
    if (made === undefined) byServer.set(server, (made = new ServerResources(server, catalog)));
    return made;
  }

  /** It is in a list, and may be seen there. */
  lists(uri: string): boolean {
    return this.#uris.has(uri) && isAllowed(this.#server.resources, uri);
  }

  /** A template that may be seen, by its own text. */
  listsTemplate(text: string): boolean {
    return shows(this.#server, this.#catalog, "templates", text);
  }

  /**
   * How well a template fits that may be used.
   *
   * @param beyond what would be no better is not looked at.
   * @returns how many characters the template begins with; `undefined` when none fits, or when there
   *   are no steps left to find one.
   */
  fit(uri: string, steps: Steps, beyond = -1): number | undefined {
    let verdict: UriVerdict | undefined;
    for (const { prefix, encoded, texts } of this.#families) {
      if (prefix.length <= beyond || !steps.take(this.#server, 1)) return undefined;
      if (!uri.startsWith(prefix) && !uri.startsWith(encoded)) continue;
      for (const text of texts) {
        if (!steps.take(this.#server, this.#parsed.has(text) ? 1 : text.length)) return undefined;
        const template = this.#parse(text);
        if (template === undefined) continue;
        if (!steps.take(this.#server, template.costOf(uri))) return undefined;
        if (!template.matches(uri)) continue;
        const { resources } = this.#server;
        if (verdict === undefined && !steps.take(this.#server, JUDGING * uri.length))
          return undefined;
        verdict ??= judgeUri(resources, uri);
        if (verdict === "forbidden") return undefined;
        const isFree = verdict === "allowed" && !isDenied(resources, text);
        if (isFree || isAllowed(resources, text)) return prefix.length;
      }
    }
    return undefined;
  }

  #parse(text: string): UriTemplate | undefined {
    if (!this.#parsed.has(text)) this.#parsed.set(text, UriTemplate.parse(text));
    return this.#parsed.get(text);
  }
}

/** Who forbids a template forbids what comes from it. */
function isDenied({ deny }: ItemPolicy, text: string): boolean {
  return deny.some((glob) => glob.matches(text));
}

function familiesOf(templates: readonly Item[]): readonly Family[] {
  const families = new Map<string, Family>();
  for (const { name } of matched(templates)) {
    const { prefix, encoded } = UriTemplate.beginning(name);
    const family = families.get(prefix) ?? { prefix, encoded, texts: [] };
    family.texts.push(name);
    families.set(prefix, family);
  }
  return [...families.values()].toSorted((a, b) => b.prefix.length - a.prefix.length);
}

function matched(templates: readonly Item[]): readonly Item[] {
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
