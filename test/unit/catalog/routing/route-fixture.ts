/** An endpoint with servers whose catalogs the test writes, and the routes of requests to it. */

import type { ClientKind } from "../../../../src/endpoint/client-kind.ts";
import type { Catalog, CatalogAnswer } from "../../../../src/catalog/catalog.ts";
import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { RoutingScope } from "../../../../src/catalog/request-scope.ts";
import { ownersOf } from "../../../../src/catalog/routing/resource-owners.ts";
import { type Routed, route } from "../../../../src/catalog/routing/route.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { Glob } from "../../../../src/policy/glob.ts";
import type { ItemPolicy } from "../../../../src/policy/item-policy.ts";
import { defaultLimits, type Limits } from "../../../../src/policy/limits.ts";
import type { Params } from "../../../../src/protocol/message-members.ts";
import { catalogOf, LEGACY } from "../cache/catalog-fixture.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

type Lists = Parameters<typeof catalogOf>[0];

/** What the feed of a server says when it is asked. */
type Said = Catalog | "none" | "never";

export interface Part extends Partial<Server> {
  readonly slug: string;
  /** `none` when it cannot be had, and `never` when nobody says so. */
  readonly has?: Lists | "none" | "never";
  readonly capabilities?: Catalog["about"]["capabilities"];
  /** How long its feed takes to answer. */
  readonly lateMs?: number;
}

export interface RouteScene {
  readonly place: RoutingScope;
  /** By slug; the test may change what a server has. */
  readonly said: Map<string, Said>;
  /** The slugs of the feeds that were asked, in order. */
  readonly asked: string[];
  readonly waiting: Promise<unknown>[];
  readonly route: (method: string, params?: Params, client?: ClientKind) => Promise<Routed>;
  readonly ownerOf: (uri: string, client?: ClientKind) => Promise<string | undefined>;
}

export function policy(allow?: readonly string[], deny: readonly string[] = []): ItemPolicy {
  return {
    allow: allow?.map((pattern) => new Glob(pattern)),
    deny: deny.map((pattern) => new Glob(pattern)),
    rename: new Map(),
  };
}

function saidBy({ has = {}, capabilities }: Part): Said {
  if (has === "none" || has === "never") return has;
  const about = { serverInfo: undefined, instructions: undefined };
  const extra = capabilities === undefined ? {} : { about: { ...about, capabilities } };
  return catalogOf(has, extra);
}

/** @param parts one is an endpoint of its own; several meet at one. */
export function routeScene(
  parts: readonly [Part, ...Part[]],
  options: {
    readonly keepsNames?: boolean;
    readonly limits?: Partial<Limits>;
    readonly endpoint?: Pick<Endpoint, "plain" | "version" | "isPartial">;
    /** The caller may publish servers. */
    readonly publishes?: boolean;
  } = {},
): RouteScene {
  const [first, ...others] = parts;
  // What else is in a part does a server no harm.
  const toServer = (part: Part): Server => fakeServer(part.slug, part);
  const endpoint: Endpoint = {
    servers: [toServer(first), ...others.map(toServer)],
    isMerged: others.length > 0,
    keepsNames: options.keepsNames ?? false,
    ...options.endpoint,
  };
  const said = new Map(parts.map((part) => [part.slug, saidBy(part)]));
  const asked: string[] = [];
  const waiting: Promise<unknown>[] = [];
  const place: RoutingScope = {
    endpoint,
    publisher: options.publishes === true ? { person: "ann", changed: () => undefined } : undefined,
    limits: { ...defaultLimits(), catalogWaitMilliseconds: 1000, ...options.limits },
    waitUntil: (promise) => void waiting.push(promise),
    feeds: {
      of: (slug) => ({
        catalog: async ({ known }) => {
          asked.push(slug);
          const lateMs = parts.find((part) => part.slug === slug)?.lateMs;
          if (lateMs !== undefined) await new Promise((resolve) => setTimeout(resolve, lateMs));
          return answerOf(slug, said.get(slug), known);
        },
        watch: () => Promise.reject(new Error("not asked for")),
        report: () => Promise.reject(new Error("not asked for")),
        health: () => Promise.reject(new Error("not asked for")),
        outdated: () => Promise.reject(new Error("not asked for")),
        announce: () => Promise.reject(new Error("not asked for")),
        look: () => Promise.reject(new Error("not asked for")),
        describe: () => Promise.reject(new Error("not asked for")),
        resources: () => Promise.reject(new Error("not asked for")),
      }),
    },
  };
  return {
    ...{ place, said, asked, waiting },
    route: (method, params, client = LEGACY) =>
      route(place, client, params === undefined ? { method } : { method, params }),
    ownerOf: async (uri, client = LEGACY) => (await ownersOf(place, client, [uri])).get(uri)?.slug,
  };
}

function answerOf(
  slug: string,
  said: Said | undefined,
  known: string | undefined,
): CatalogAnswer | Promise<CatalogAnswer> {
  if (said === "never") return new Promise(() => undefined);
  if (said === undefined || said === "none") {
    const message = `Upstream "${slug}" cannot be reached`;
    return { kind: "none", trouble: { reason: "unreachable", message, since: 1 } };
  }
  if (said.version === known) return { kind: "same", freshMs: 1000 };
  return { kind: "catalog", catalog: said, freshMs: 1000 };
}

/** Where a request went, in short: the server, and its own name or URI of the thing. */
export function short(routed: Routed): unknown {
  switch (routed.kind) {
    case "server": {
      const { name, uri, ref } = routed.call.params ?? {};
      return [routed.server.slug, name ?? uri ?? ref];
    }
    case "search":
      return routed.servers.map(({ slug }) => slug);
    case "reply":
      return "error" in routed.reply ? routed.reply.error.code : routed.reply.result;
    default:
      return routed.kind;
  }
}
