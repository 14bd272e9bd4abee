/** Endpoints whose servers differ in their names. */

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { NamedKind, Naming } from "../../../../src/catalog/names/naming.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { OPEN_POLICY } from "../../../../src/policy/item-policy.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";

export interface Named {
  readonly slug: string;
  /** `<slug>__` by default. */
  readonly prefix?: string;
  /** Of tools and prompts alike. */
  readonly rename?: Readonly<Record<string, string>>;
}

const target = fakeTarget(() => new Response());

function serverFrom({ slug, prefix = `${slug}__`, rename = {} }: Named): Server {
  const policy = { ...OPEN_POLICY, rename: new Map(Object.entries(rename)) };
  const auth = { kind: "none" } as const;
  return { slug, target, auth, prefix, tools: policy, prompts: policy, resources: OPEN_POLICY };
}

/** `/mcp` of a gateway with these servers. */
export function meeting(first: Named, ...others: readonly Named[]): Endpoint {
  return {
    servers: [serverFrom(first), ...others.map(serverFrom)],
    isMerged: others.length > 0,
    keepsNames: false,
  };
}

/** `/mcp/<slug>` of it. */
export function alone(named: Named): Endpoint {
  return { servers: [serverFrom(named)], isMerged: false, keepsNames: true };
}

/** @throws Error when the test forgot to configure it. */
export function serverOf(endpoint: Endpoint, slug: string): Server {
  const server = endpoint.servers.find((server) => server.slug === slug);
  if (server === undefined) throw new Error(`no server ${slug}`);
  return server;
}

/** What one thing is called, beside others or not. */
export function publicName(
  naming: Naming,
  server: Server,
  name: string,
  kind: NamedKind = "tools",
): string {
  return naming.publicNames(server, kind, [name]).get(name) ?? "(none)";
}

/** Halves of surrogate pairs would not come through to the reporter: they are escaped. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner instanceof Map ? [...(inner as Map<unknown, unknown>)] : inner,
  );
}
