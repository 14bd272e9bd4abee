/** Reads catalogs from servers that list what a test says. */

import type { Catalog } from "../../../../src/catalog/catalog.ts";
import { readCatalog, type ReadCatalog } from "../../../../src/catalog/read/read-catalog.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Revision } from "../../../../src/protocol/revisions.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { CACHEABLE, type Listing } from "./listing-server.ts";

export const MODERN = "2026-07-28";
export const LEGACY = "2025-06-18";

interface ReadOptions {
  readonly limits?: Partial<ReturnType<typeof defaultLimits>>;
  readonly target?: Partial<UpstreamTarget>;
  readonly signal?: AbortSignal;
  readonly capabilities?: Record<string, unknown>;
  /** What was had before. */
  readonly last?: Catalog;
}

export function read(
  listing: Pick<Listing, "answer">,
  revision: Revision,
  { limits, target, signal, capabilities = {}, last }: ReadOptions = {},
): Promise<ReadCatalog> {
  return readCatalog(
    fakeServer("docs", { target: fakeTarget(listing.answer, { slug: "docs", ...target }) }),
    clientKind(revision, capabilities),
    { ...defaultLimits(), ...limits },
    signal ?? new AbortController().signal,
    () => last,
  );
}

export const names = ({ lists }: Catalog): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(lists).map(([list, items]) => [list, items.map(({ name }) => name)]),
  );

export const EVERYTHING = {
  "tools/list": { ...CACHEABLE, tools: [{ name: "t" }] },
  "resources/list": { ...CACHEABLE, resources: [{ uri: "r:1", name: "r" }] },
  "resources/templates/list": {
    ...CACHEABLE,
    resourceTemplates: [{ uriTemplate: "r:{id}", name: "r" }],
  },
  "prompts/list": { ...CACHEABLE, prompts: [{ name: "p" }] },
};
export const ALL_NAMES = {
  tools: ["t"],
  resources: ["r:1"],
  templates: ["r:{id}"],
  prompts: ["p"],
};
export const LIST_METHODS = Object.keys(EVERYTHING);

export const BAD_TOOL = {
  name: "bad",
  inputSchema: { type: "object", properties: { a: { type: "object", "x-mcp-header": "A" } } },
};
