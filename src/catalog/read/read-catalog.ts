/** Reads everything that a server lists, page by page, within limits. */

import { settleWithin } from "../../lib/time-out.ts";
import type { FoundServer } from "../../observability/health.ts";
import type { Limits } from "../../policy/limits.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { templateFlaws } from "../uris/uri-template.ts";
import type { Server } from "../../endpoint/server.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import {
  type About,
  type Catalog,
  type Item,
  LIST_KINDS,
  type ListFault,
  type ListKind,
} from "../catalog.ts";
import { ByteBudget, entryWeight } from "./byte-budget.ts";
import { flawed } from "./flaws.ts";
import { advertises, type ListSource, openListSource } from "./list-source.ts";
import { type ListReading, readList } from "./read-list.ts";
import { versionOf } from "./version.ts";

export interface ReadCatalog {
  readonly catalog: Catalog;
  /** The smallest `ttlMs` of all pages; `undefined` when the server states none. */
  readonly ttlMs: number | undefined;
  readonly found?: FoundServer;
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
    source = await openListSource(stoppable(server.target, stopped), client, stopped);
    const isOfOne = server.target.publisher !== undefined;
    return await readFrom(slug, source, { limits, last, startedAt, signal, isOfOne });
  } catch (error) {
    // The abort may have come out as another error.
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    // Requests that are still under way are of no use, however the reading ended.
    over.abort(new Error("The catalog is read"));
    source?.close();
  }
}

/** The connectors have a time limit of their own for opening; here it must not outlive the reading. */
function stoppable(target: UpstreamTarget, stopped: AbortSignal): UpstreamTarget {
  return {
    ...target,
    fetch: (url, init) => {
      // The DELETE request that ends a session is sent in every case.
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
  /** One person alone has the server, whatever it says. */
  readonly isOfOne: boolean;
}

async function readFrom(
  slug: string,
  source: ListSource,
  { limits, last, startedAt, signal, isOfOne }: Circumstances,
): Promise<ReadCatalog> {
  const budget = new ByteBudget(limits.catalogBytes);
  const { about: bounded, flaws } = boundAbout(slug, source.about);
  const text = JSON.stringify(bounded);
  budget.take(entryWeight(text));
  // A catalog travels between objects, and what numbers JavaScript cannot hold cannot be cloned.
  const about = JSON.parse(text) as About;
  const readings: Record<ListKind, ListReading> = {
    tools: NO_LIST,
    resources: NO_LIST,
    templates: NO_LIST,
    prompts: NO_LIST,
  };
  const failed: { readonly list: ListKind; readonly error: UpstreamError }[] = [];
  // One list after the other: a page may be large, and is held as objects and as text at once.
  for (const [n, list] of LIST_KINDS.entries()) {
    if (!source.mayHave(list)) continue;
    const untilMs = startedAt + listEndsAt(n, limits.catalogSeconds * 1000);
    const { left } = budget;
    try {
      readings[list] = await readList({
        slug,
        list,
        isAdvertised: advertises(source.about.capabilities, list),
        maxItems: limits.catalogItems,
        maxPages: limits.catalogPages,
        budget,
        ask: (method, params) => askUntil(untilMs, slug, source, method, params),
        isLawful: (item) => source.isLawful(list, item),
      });
    } catch (error) {
      if (signal.aborted || !isOfOneList(error)) throw error;
      budget.restore(left);
      failed.push({ list, error });
    }
  }
  const all = LIST_KINDS.map((list) => readings[list]);
  const [first] = failed;
  // Every page sets `isPublic`, so no page of any list was read.
  if (first !== undefined && all.every(({ isPublic }) => isPublic === undefined)) throw first.error;
  const faults: ListFault[] = [];
  const before = first === undefined ? undefined : last();
  for (const { list, error } of failed) {
    const fault = faultFrom(list, error, before);
    faults.push(fault);
    const isServable = Date.now() - fault.since <= limits.staleCatalogHours * HOUR_MS;
    if (isServable) readings[list] = keptList(slug, list, before?.lists[list] ?? [], budget);
  }
  const { tools, resources, templates, prompts } = readings;
  const facts = {
    era: source.era,
    about,
    flaws: [
      ...flaws,
      ...LIST_KINDS.flatMap((list) => readings[list].flaws),
      ...templateFlaws(slug, templates.items),
    ],
    faults,
    isPublic: faults.length === 0 && !isOfOne && areAllPublic(all),
  };
  return {
    catalog: {
      version: await versionOf(textsOf(facts, readings)),
      ...facts,
      lists: {
        tools: tools.items,
        resources: resources.items,
        templates: templates.items,
        prompts: prompts.items,
      },
    },
    ttlMs: smallest(all.map(({ ttlMs }) => ttlMs)),
    found: { era: source.era, revision: source.revision, transport: source.transport },
  };
}

const MAX_INSTRUCTIONS_CHARS = 16 * 1024;
const MAX_OBJECT_CHARS = 64 * 1024;

/** Bounds a server's description of itself: every catalog includes it. */
function boundAbout(
  slug: string,
  { capabilities, serverInfo, instructions }: About,
): { readonly about: About; readonly flaws: readonly string[] } {
  const about: About = {
    capabilities: fits(capabilities) ? capabilities : {},
    serverInfo: serverInfo !== undefined && fits(serverInfo) ? serverInfo : undefined,
    instructions: instructions?.slice(0, MAX_INSTRUCTIONS_CHARS),
  };
  const isWhole =
    about.capabilities === capabilities &&
    about.serverInfo === serverInfo &&
    about.instructions === instructions;
  return { about, flaws: isWhole ? [] : [flawed.talkative(slug)] };
}

function fits(value: JsonObject): boolean {
  return JSON.stringify(value).length <= MAX_OBJECT_CHARS;
}

const HOUR_MS = 3_600_000;
/** The part of the time that is kept for each list that is still to be read, and for the end. */
const KEPT_TIME = 0.1;

/** The deadline of a list: one that stalls must not take the time of the others. */
function listEndsAt(index: number, wholeMs: number): number {
  return wholeMs * (1 - KEPT_TIME * (LIST_KINDS.length - index));
}

/** @throws UpstreamError `timeout` when the page does not arrive in time; the request goes on. */
async function askUntil(
  untilMs: number,
  slug: string,
  source: ListSource,
  method: string,
  params: JsonObject,
): Promise<Reply> {
  const asking = source.ask(method, params);
  // The request may fail after the time-out.
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

/** The `since` of a fault lasts from one reading to the next. */
function faultFrom(
  list: ListKind,
  { failure, message }: UpstreamError,
  before: Catalog | undefined,
): ListFault {
  const earlier = before?.faults.find((fault) => fault.list === list);
  return { list, reason: failure, message, since: earlier?.since ?? Date.now() };
}

/** The part of an earlier list that fits beside the other lists. */
function keptList(
  slug: string,
  list: ListKind,
  items: readonly Item[],
  budget: ByteBudget,
): ListReading {
  const end = items.findIndex(({ name, text }) => !budget.take(entryWeight(name, text)));
  if (end === -1) return { ...NO_LIST, items };
  return { ...NO_LIST, items: items.slice(0, end), flaws: [flawed.tooLong(slug, list, end)] };
}

/** All texts of the catalog in a fixed order. */
function* textsOf(facts: object, readings: Readings): Generator<string, void, void> {
  yield JSON.stringify(facts);
  for (const list of LIST_KINDS) {
    yield list;
    for (const { text } of readings[list].items) yield text;
  }
}

/** The server has lists, and every one of them is public. */
function areAllPublic(readings: readonly ListReading[]): boolean {
  const scopes = readings.map(({ isPublic }) => isPublic).filter((is) => is !== undefined);
  return scopes.length > 0 && scopes.every(Boolean);
}

function smallest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
