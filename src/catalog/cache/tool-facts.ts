/**
 * The facts that a call of a tool needs, taken from the catalog so that a call costs no list
 * request.
 */

import type { Call } from "../../protocol/exchange.ts";
import { type ParamBinding, readParamBindings } from "../../protocol/param-headers.ts";
import { effectOf, type ToolEffect } from "../../protocol/tool-effect.ts";
import { type Catalog, parseItem } from "../catalog.ts";
import type { RequestScope } from "../request-scope.ts";
import type { Server } from "../../endpoint/server.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { catalogAtHand, currentCatalog, knownCatalog } from "./catalogs.ts";
import { itemNamed } from "./lookups.ts";

/** The facts about a tool that a call and its result need. */
export interface ToolFacts {
  /** The arguments that its server wants mirrored into headers. */
  readonly bindings: readonly ParamBinding[];
  readonly effect?: ToolEffect;
  /** As the server sent it. */
  readonly outputSchema?: unknown;
}

/**
 * Never rejects.
 *
 * @param name the server's own.
 * @param isDoubted the earlier facts did not fit: the server is asked again.
 * @returns `undefined` when the tool is not listed, or no list is available.
 */
export type ToolFactsOf = (name: string, isDoubted: boolean) => Promise<ToolFacts | undefined>;

export function toolFactsOf(
  context: Pick<RequestScope, "feeds" | "limits">,
  server: Server,
  client: ClientKind,
): ToolFactsOf {
  return async (name, isDoubted) => {
    const { catalog } = isDoubted
      ? await currentCatalog(context, server, client, isDoubted)
      : await knownCatalog(context, server, client);
    return catalog === undefined ? undefined : factsOf(catalog, name);
  };
}

/** The effect of a called tool, if this isolate has the catalog that lists it: nothing is read for it. */
export function effectAtHand(
  server: Server,
  client: ClientKind,
  { method, params }: Call,
): ToolEffect | undefined {
  const name = params?.name;
  if (method !== "tools/call" || typeof name !== "string") return undefined;
  const catalog = catalogAtHand(server, client);
  return catalog && factsOf(catalog, name)?.effect;
}

/** Computed once for a catalog, and kept for as long as the catalog itself. */
const factsByCatalog = new WeakMap<Catalog, Map<string, ToolFacts>>();

/**
 * @param name the server's own.
 * @returns `undefined` when the tool is not listed, or its annotations break the rules.
 */
export function factsOf(catalog: Catalog, name: string): ToolFacts | undefined {
  const tools = factsByCatalog.get(catalog) ?? new Map<string, ToolFacts>();
  factsByCatalog.set(catalog, tools);
  const known = tools.get(name);
  if (known !== undefined) return known;
  const item = itemNamed(catalog, "tools", name);
  if (item === undefined) return undefined;
  const { annotations, inputSchema, outputSchema } = parseItem(item);
  const reading = readParamBindings(inputSchema);
  if (reading.kind !== "bindings") return undefined;
  const { bindings } = reading;
  const effect = effectOf(annotations);
  const facts: ToolFacts =
    outputSchema === undefined ? { bindings, effect } : { bindings, effect, outputSchema };
  tools.set(name, facts);
  return facts;
}
