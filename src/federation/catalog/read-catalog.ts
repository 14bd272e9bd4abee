/** Reads everything that a server lists, page after page, within bounds. */

import type { Limits } from "../../policy/limits.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { templateFlaws } from "../routing/server-resources.ts";
import type { Server } from "../server.ts";
import { boundAbout } from "./about.ts";
import { askServer } from "./ask-server.ts";
import { type Catalog, type ClientKind, LIST_KINDS, type ListKind } from "./catalog.ts";
import type { ListSource } from "./list-source.ts";
import { type ListReading, readList } from "./read-list.ts";
import { entryWeight, Room } from "./room.ts";
import { versionOf } from "./version.ts";

export interface ReadCatalog {
  readonly catalog: Catalog;
  /** As the server states it, the smallest of all its pages; `undefined` when it says nothing. */
  readonly ttlMs: number | undefined;
}

type Readings = Readonly<Record<ListKind, ListReading>>;

const NO_LIST: ListReading = { items: [], flaws: [], ttlMs: undefined, isPublic: undefined };

/**
 * It is for the caller to end it in time. What was opened at the server is closed in every case, in
 * the background.
 *
 * @throws UpstreamError when the server, or one of the lists that it says it has, is not to be had;
 *   the reason of `signal` when it is aborted.
 */
export async function readCatalog(
  server: Server,
  client: ClientKind,
  limits: Limits,
  signal: AbortSignal,
): Promise<ReadCatalog> {
  const { slug } = server;
  const over = new AbortController();
  const stopped = AbortSignal.any([signal, over.signal]);
  let source: ListSource | undefined;
  try {
    signal.throwIfAborted();
    source = await askServer(stoppable(server.target, stopped), client, stopped);
    return await readFrom(slug, source, limits);
  } catch (error) {
    // Whatever it looked like from inside.
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    // Nothing that is still under way is of use, however the reading ended.
    over.abort(new Error("The catalog is read"));
    source?.close();
  }
}

/** The connectors open with a clock of their own; here it must not outlive the reading. */
function stoppable(target: UpstreamTarget, stopped: AbortSignal): UpstreamTarget {
  return {
    ...target,
    fetch: (url, init) => {
      // The end of a session is said whatever happened.
      if (init.method === "DELETE") return target.fetch(url, init);
      const signals = init.signal ? [stopped, init.signal] : [stopped];
      return target.fetch(url, { ...init, signal: AbortSignal.any(signals) });
    },
  };
}

async function readFrom(slug: string, source: ListSource, limits: Limits): Promise<ReadCatalog> {
  const room = new Room(limits.catalogBytes);
  const { about, flaws } = boundAbout(slug, source.about);
  room.take(entryWeight(JSON.stringify(about)));
  const bounds = { maxItems: limits.catalogItems, maxPages: limits.catalogPages, room };
  const read = (list: ListKind): Promise<ListReading> =>
    source.mayHave(list)
      ? readList({
          ...{ slug, list, bounds, isAdvertised: source.advertises(list) },
          ask: (method, params) => source.ask(method, params),
          isLawful: (thing) => source.isLawful(list, thing),
        })
      : Promise.resolve(NO_LIST);
  // One after the other: a page may be large, and is held as objects and as text at once.
  const tools = await read("tools");
  const resources = await read("resources");
  const templates = await read("templates");
  const prompts = await read("prompts");
  const readings: Readings = { tools, resources, templates, prompts };
  const all = LIST_KINDS.map((list) => readings[list]);
  const said = {
    ...{ era: source.era, about },
    flaws: [
      ...flaws,
      ...all.flatMap((reading) => reading.flaws),
      ...templateFlaws(slug, templates.items),
    ],
    isPublic: isForAll(all),
  };
  return {
    catalog: {
      version: await versionOf(textsOf(said, readings)),
      ...said,
      lists: {
        tools: tools.items,
        resources: resources.items,
        templates: templates.items,
        prompts: prompts.items,
      },
    },
    ttlMs: smallest(all.map(({ ttlMs }) => ttlMs)),
  };
}

/** Everything that is told, in one order. */
function* textsOf(said: object, readings: Readings): Generator<string, void, void> {
  yield JSON.stringify(said);
  for (const list of LIST_KINDS) {
    yield list;
    for (const { text } of readings[list].items) yield text;
  }
}

/** Only if every list that there is says so. */
function isForAll(readings: readonly ListReading[]): boolean {
  const said = readings.map(({ isPublic }) => isPublic).filter((is) => is !== undefined);
  return said.length > 0 && said.every(Boolean);
}

function smallest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
