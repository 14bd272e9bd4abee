/** A gateway with several servers whose feeds a test fills, and lists that are read to their ends. */

import { type ClientKind, clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { Catalog, ListKind } from "../../../../src/catalog/catalog.ts";
import { LISTS } from "../../../../src/catalog/catalog.ts";
import { listPage, type PageQuestion } from "../../../../src/catalog/lists/list-page.ts";
import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { RequestScope } from "../../../../src/catalog/request-scope.ts";
import { toBase64Url } from "../../../../src/lib/base64url.ts";
import { defaultLimits, type Limits } from "../../../../src/policy/limits.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { SessionKeys } from "../../../../src/endpoint/keyring.ts";
import { catalogOf, FakeFeeds, tools } from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

export const CLIENT: ClientKind = clientKind("2026-07-28", {});

export const keysOf = (byte: number): SessionKeys =>
  new SessionKeys(() => Promise.resolve([toBase64Url(new Uint8Array(32).fill(byte))]));

export interface World extends RequestScope {
  readonly feeds: FakeFeeds;
  /** What was left to be done after the answer. */
  readonly left: Promise<unknown>[];
}

export interface Part {
  /** `undefined` for a server that nothing is known of. */
  readonly catalog: Catalog | undefined;
  readonly server?: Partial<Server>;
}

/** A server that lists these tools, and prompts of the same names. */
export function listing(...names: readonly string[]): Part & { readonly catalog: Catalog } {
  return { catalog: catalogOf({ lists: { tools: tools(...names), prompts: tools(...names) } }) };
}

/** @param parts by slug, in the operator's order. */
export function mergedWorld(
  parts: Readonly<Record<string, Part>>,
  limits: Partial<Limits> = {},
): World {
  const feeds = new FakeFeeds();
  const servers = Object.entries(parts).map(([slug, { catalog, server }]) => {
    feeds.of(slug).has = catalog;
    return fakeServer(slug, server);
  });
  const left: Promise<unknown>[] = [];
  return {
    ...{ feeds, left, route: "/mcp", principal: "alice", keys: keysOf(1) },
    endpoint: { servers, isMerged: true, keepsNames: false } as unknown as Endpoint,
    // Every page looks at what is there now.
    limits: { ...defaultLimits(), catalogFreshSeconds: 0, catalogWaitMilliseconds: 20, ...limits },
    waitUntil: (promise) => void left.push(promise),
  };
}

/** @throws Error when the answer is an error. */
export function resultOf(reply: Reply): JsonObject {
  if ("error" in reply) throw new Error(JSON.stringify(reply.error));
  return reply.result;
}

export async function pageOf(
  world: RequestScope,
  question: Partial<PageQuestion> = {},
): Promise<JsonObject> {
  return resultOf(await listPage(world, { client: CLIENT, list: "tools", ...question }));
}

export function thingsIn(result: JsonObject, list: ListKind = "tools"): readonly JsonObject[] {
  return result[LISTS[list].member] as readonly JsonObject[];
}

export function namesIn(result: JsonObject, list: ListKind = "tools"): readonly unknown[] {
  return thingsIn(result, list).map((thing) => thing[LISTS[list].name]);
}

/**
 * Every page of a list.
 *
 * @param between called before each page but the first.
 */
export async function allPages(
  world: RequestScope,
  question: Partial<PageQuestion> = {},
  between: (n: number) => void = () => undefined,
): Promise<readonly JsonObject[]> {
  const pages: JsonObject[] = [];
  let cursor: unknown;
  do {
    if (cursor !== undefined) between(pages.length);
    const page = await pageOf(world, { ...question, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page);
    cursor = page["nextCursor"];
    if (pages.length > 10_000) throw new Error("a list without end");
  } while (cursor !== undefined);
  return pages;
}
