/** Reads everything that a server lists, page after page, within bounds. */

import { settleWithin } from "../../lib/time-out.ts";
import type { Limits } from "../../policy/limits.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { templateFlaws } from "../uris/matched-templates.ts";
import type { Server } from "../../endpoint/server.ts";
import { boundAbout } from "./about.ts";
import { askServer } from "./ask-server.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { type Catalog, type Item, LIST_KINDS, type ListFault, type ListKind } from "../catalog.ts";
import { flawed } from "./flaws.ts";
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
 * The caller limits the time. A session at the server is closed in every case, in the background.
 *
 * @param last the previous catalog: a list that the server does not return is taken from it.
 * @throws UpstreamError when the server, or every list that it may have, is unavailable; the
 *   reason of `signal` when it is aborted.
 */
export async function readCatalog(
  server: Server,
  client: ClientKind,
  limits: Limits,
  signal: AbortSignal,
  last: () => Catalog | undefined = () => undefined,
): Promise<ReadCatalog> {
  const { slug } = server;
  const startedAt = Date.now();
  const over = new AbortController();
  const stopped = AbortSignal.any([signal, over.signal]);
  let source: ListSource | undefined;
  try {
    signal.throwIfAborted();
    source = await askServer(stoppable(server.target, stopped), client, stopped);
    return await readFrom(slug, source, { limits, last, startedAt, signal });
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

interface Circumstances {
  readonly limits: Limits;
  readonly last: () => Catalog | undefined;
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

async function readFrom(
  slug: string,
  source: ListSource,
  { limits, last, startedAt, signal }: Circumstances,
): Promise<ReadCatalog> {
  const room = new Room(limits.catalogBytes);
  const { about, flaws } = boundAbout(slug, source.about);
  room.take(entryWeight(JSON.stringify(about)));
  const bounds = { maxItems: limits.catalogItems, maxPages: limits.catalogPages, room };
  const readings: Record<ListKind, ListReading> = {
    tools: NO_LIST,
    resources: NO_LIST,
    templates: NO_LIST,
    prompts: NO_LIST,
  };
  const failed: { readonly list: ListKind; readonly error: UpstreamError }[] = [];
  // One after the other: a page may be large, and is held as objects and as text at once.
  for (const [n, list] of LIST_KINDS.entries()) {
    if (!source.mayHave(list)) continue;
    const untilMs = startedAt + listEndsAt(n, limits.catalogSeconds * 1000);
    const { left } = room;
    try {
      readings[list] = await readList({
        slug,
        list,
        bounds,
        isAdvertised: source.advertises(list),
        ask: (method, params) => askUntil(untilMs, slug, source, method, params),
        isLawful: (thing) => source.isLawful(list, thing),
      });
    } catch (error) {
      if (signal.aborted || !isOfOneList(error)) throw error;
      room.restore(left);
      failed.push({ list, error });
    }
  }
  const all = LIST_KINDS.map((list) => readings[list]);
  const [first] = failed;
  // Every page says for whom it is.
  if (first !== undefined && all.every(({ isPublic }) => isPublic === undefined)) throw first.error;
  const faults: ListFault[] = [];
  const before = first === undefined ? undefined : last();
  for (const { list, error } of failed) {
    const fault = faultFrom(list, error, before);
    faults.push(fault);
    const isServable = Date.now() - fault.since <= limits.staleCatalogHours * HOUR_MS;
    if (isServable) readings[list] = keptList(slug, list, before?.lists[list] ?? [], room);
  }
  const { tools, resources, templates, prompts } = readings;
  const said = {
    era: source.era,
    about,
    flaws: [
      ...flaws,
      ...LIST_KINDS.flatMap((list) => readings[list].flaws),
      ...templateFlaws(slug, templates.items),
    ],
    faults,
    isPublic: faults.length === 0 && isForAll(all),
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

const HOUR_MS = 3_600_000;
/** The part of the time that is kept for each list that is still to be read, and for the end. */
const KEPT_TIME = 0.1;

/** When a list must be there, so that one that stalls does not take the time of the others. */
function listEndsAt(index: number, wholeMs: number): number {
  return wholeMs * (1 - KEPT_TIME * (LIST_KINDS.length - index));
}

/** @throws UpstreamError `timeout` when the page does not come in time; the request is let be. */
async function askUntil(
  untilMs: number,
  slug: string,
  source: ListSource,
  method: string,
  params: JsonObject,
): Promise<Reply> {
  const asking = source.ask(method, params);
  // It may fail when nobody waits for it any more.
  asking.catch(() => undefined);
  const reply = await settleWithin(asking, Math.max(0, untilMs - Date.now()));
  if (reply !== undefined) return reply;
  throw new UpstreamError(slug, "timeout", `did not answer ${method} in time`);
}

/** The failures of an available server: one whose tool list crashes answers with the status 500. */
function isOfOneList(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  const { failure, status } = error;
  if (failure === "unreachable") return status === 500;
  return failure === "malformed" || failure === "timeout" || failure === "lost";
}

/** Since when: it goes on from one reading to the next. */
function faultFrom(
  list: ListKind,
  { failure, message }: UpstreamError,
  before: Catalog | undefined,
): ListFault {
  const earlier = before?.faults.find((fault) => fault.list === list);
  return { list, reason: failure, message, since: earlier?.since ?? Date.now() };
}

/** The part of an earlier list that still has room beside the others. */
function keptList(slug: string, list: ListKind, items: readonly Item[], room: Room): ListReading {
  const isFull = items.findIndex(({ name, text }) => !room.take(entryWeight(name, text)));
  if (isFull === -1) return { ...NO_LIST, items };
  return { ...NO_LIST, items: items.slice(0, isFull), flaws: [flawed.tooLong(slug, list, isFull)] };
}

/** All texts of the catalog in a fixed order. */
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
