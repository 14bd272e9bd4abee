/**
 * The URIs that a server owns: those that it lists, those that its tools point at, and those that
 * fit its templates. A template that begins with an expression claims nothing; it gets URIs that
 * no other server claims. The index is made once for each catalog. Servers choose the number and
 * form of their templates, so most are kept as text, and templates beyond a limit are not matched:
 * clients can list and complete them, but no request is routed by them.
 */

import { isAllowed, type ItemPolicy } from "../../policy/item-policy.ts";
import { metaOf } from "../../protocol/envelope.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { type Catalog, type Item, parseItem } from "../catalog.ts";
import { shows } from "../cache/lookups.ts";
import type { Server } from "../../endpoint/server.ts";
import { judgeUri, type UriVerdict } from "../uris/judge-uri.ts";
import type { StepBudget } from "../uris/step-budget.ts";
import { routableTemplates, UriTemplate } from "../uris/uri-template.ts";

/** The cost in steps of judging each character of a URI. */
const JUDGING = 2;

/** Templates with the same prefix. */
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
  /** Templates that begin with a literal. */
  readonly #families: readonly Family[];
  /** Templates that begin with an expression. */
  readonly #openFamilies: readonly Family[];
  readonly #parsed = new Map<string, UriTemplate | undefined>();

  private constructor(server: Server, catalog: Catalog) {
    const { resources, tools, templates } = catalog.lists;
    this.#server = server;
    this.#catalog = catalog;
    // A tool that may not be called claims no URI.
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

  /** The URI is listed or a tool points at it, and it may be seen. */
  lists(uri: string): boolean {
    return this.#uris.has(uri) && isAllowed(this.#server.resources, uri);
  }

  get slug(): string {
    return this.#server.slug;
  }

  /** The visible URIs that the server lists or that its tools point at. */
  get uris(): readonly string[] {
    return [...this.#uris].filter((uri) => isAllowed(this.#server.resources, uri));
  }

  /** The texts of the templates that may be seen. */
  get templates(): readonly string[] {
    return this.#catalog.lists.templates
      .map(({ name }) => name)
      .filter((text) => isAllowed(this.#server.resources, text));
  }

  /** The server lists a template with this text, and it may be seen. */
  listsTemplate(text: string): boolean {
    return shows(this.#server, this.#catalog, "templates", text);
  }

  /** The server lists the URI, or a template that begins with a literal fits it. */
  claims(uri: string, steps: StepBudget): boolean {
    return this.lists(uri) || this.fits(uri, steps);
  }

  /**
   * A template that begins with a literal fits the URI, and may be used.
   *
   * @returns `false`, too, when there are no steps left to find one.
   */
  fits(uri: string, steps: StepBudget): boolean {
    return this.#fitsAny(this.#families, uri, steps);
  }

  /** A template that begins with an expression fits the URI, and may be used. */
  fitsOpenly(uri: string, steps: StepBudget): boolean {
    return this.#fitsAny(this.#openFamilies, uri, steps);
  }

  /** Compares examples: a template of another server and one of this server share a URI. */
  overlaps(text: string, other: ServerResources, steps: StepBudget): boolean {
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

  #fitsAny(families: readonly Family[], uri: string, steps: StepBudget): boolean {
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

/** A denied template denies every URI that fits it. */
function isDenied({ deny }: ItemPolicy, text: string): boolean {
  return deny.some((glob) => glob.matches(text));
}

function familiesOf(templates: readonly Item[]): readonly Family[] {
  const families = new Map<string, Family>();
  for (const { name } of routableTemplates(templates)) {
    const { prefix, encoded } = UriTemplate.beginning(name);
    const family = families.get(prefix) ?? { prefix, encoded, texts: [] };
    family.texts.push(name);
    families.set(prefix, family);
  }
  return [...families.values()];
}

/** The part of the catalog that `ServerResources` reads: small enough to send between objects. */
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
 * The resources with which a tool shows its results (MCP Apps and its forerunners): they are seldom
 * listed, so the tool determines their server.
 */
function urisOfTool(tool: Item): readonly string[] {
  // Few tools have such a resource, and a catalog may have thousands of tools.
  if (!/resourceUri|outputTemplate/.test(tool.text)) return [];
  const { ui, "ui/resourceUri": early, "openai/outputTemplate": openAi } = metaOf(parseItem(tool));
  const { resourceUri }: JsonObject = isObject(ui) ? ui : {};
  return [resourceUri, early, openAi].filter((uri) => typeof uri === "string");
}
