/**
 * Which URIs a server speaks for: those that it lists, those that its tools point at, and those that
 * fit its templates. A template that begins with an expression names no place of its own, so it
 * claims nothing, and is given what nobody else speaks for. Made once for each catalog, and gone with it. Servers choose how many templates
 * they have and what they look like, so most of that is kept as text, and not all is looked at: what
 * is beyond is listed, and can be completed, but no request finds its server by it.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isAllowed, type ItemPolicy } from "../../policy/item-policy.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Catalog, Item } from "../catalog.ts";
import { shows } from "./lookups.ts";
import type { Server } from "../../endpoint/server.ts";
import { judgeUri, type UriVerdict } from "../uris/judge-uri.ts";
import type { Steps } from "../uris/steps.ts";
import { matched } from "../uris/matched-templates.ts";
import { UriTemplate } from "../uris/uri-template.ts";

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
  /** Those that begin with a text of their own. */
  readonly #families: readonly Family[];
  /** Those that begin with an expression. */
  readonly #openFamilies: readonly Family[];
  readonly #parsed = new Map<string, UriTemplate | undefined>();

  private constructor(server: Server, catalog: Catalog) {
    const { resources, tools, templates } = catalog.lists;
    this.#server = server;
    this.#catalog = catalog;
    // What may not be called points at nothing.
    const callable = tools.filter(({ name }) => isAllowed(server.tools, name));
    this.#uris = new Set([...resources.map(({ name }) => name), ...callable.flatMap(urisOfTool)]);
    const families = familiesOf(templates);
    this.#families = families.filter(({ prefix }) => prefix !== "");
    this.#openFamilies = families.filter(({ prefix }) => prefix === "");
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

  get slug(): string {
    return this.#server.slug;
  }

  /** Those that are in a list and may be seen, and those that its tools point at. */
  get uris(): readonly string[] {
    return [...this.#uris].filter((uri) => isAllowed(this.#server.resources, uri));
  }

  /** The texts of those that may be seen. */
  get templates(): readonly string[] {
    return this.#catalog.lists.templates
      .map(({ name }) => name)
      .filter((text) => isAllowed(this.#server.resources, text));
  }

  /** A template that may be seen, by its own text. */
  listsTemplate(text: string): boolean {
    return shows(this.#server, this.#catalog, "templates", text);
  }

  /** It lists it, or a template that claims it fits. */
  claims(uri: string, steps: Steps): boolean {
    return this.lists(uri) || this.fits(uri, steps);
  }

  /**
   * Whether a template fits that claims what fits it, and may be used.
   *
   * @returns `false`, too, when there are no steps left to find one.
   */
  fits(uri: string, steps: Steps): boolean {
    return this.#fitsAny(this.#families, uri, steps);
  }

  /** Whether a template fits that claims nothing, and may be used. */
  fitsOpenly(uri: string, steps: Steps): boolean {
    return this.#fitsAny(this.#openFamilies, uri, steps);
  }

  /** Whether a template of another server and one of this have a URI in common, by an example of each. */
  overlaps(text: string, other: ServerResources, steps: Steps): boolean {
    const example = other.#parse(text)?.example;
    if (example === undefined || UriTemplate.beginning(text).prefix === "") return false;
    if (this.fits(example, steps)) return true;
    for (const { texts } of this.#families) {
      for (const own of texts) {
        const template = other.#parse(text);
        const ownExample = this.#parse(own)?.example;
        if (template === undefined || ownExample === undefined) continue;
        if (!steps.take(this.#server, template.costOf(ownExample))) return false;
        if (template.matches(ownExample) && this.fits(ownExample, steps)) return true;
      }
    }
    return false;
  }

  #fitsAny(families: readonly Family[], uri: string, steps: Steps): boolean {
    let verdict: UriVerdict | undefined;
    for (const { prefix, encoded, texts } of families) {
      if (!steps.take(this.#server, 1)) return false;
      if (!uri.startsWith(prefix) && !uri.startsWith(encoded)) continue;
      for (const text of texts) {
        if (!steps.take(this.#server, this.#parsed.has(text) ? 1 : text.length)) return false;
        const template = this.#parse(text);
        if (template === undefined) continue;
        if (!steps.take(this.#server, template.costOf(uri))) return false;
        if (!template.matches(uri)) continue;
        const { resources } = this.#server;
        if (verdict === undefined && !steps.take(this.#server, JUDGING * uri.length)) return false;
        verdict ??= judgeUri(resources, uri);
        if (verdict === "forbidden") return false;
        const isFree = verdict === "allowed" && !isDenied(resources, text);
        if (isFree || isAllowed(resources, text)) return true;
      }
    }
    return false;
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
  return [...families.values()];
}

/** What `ServerResources` looks at: a part of the catalog that is small enough to be sent around. */
export function resourcesOf(catalog: Catalog): Catalog {
  const { tools, resources, templates } = catalog.lists;
  return {
    ...catalog,
    lists: {
      tools: tools.filter((tool) => urisOfTool(tool).length > 0),
      resources: resources.map(named),
      templates: templates.map(named),
      prompts: [],
    },
  };
}

function named({ name }: Item): Item {
  return { name, text: "" };
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
