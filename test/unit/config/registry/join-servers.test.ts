/**
 * Where an added server may be: no address of it leads further into a network than the configuration does. And what
 * it may be called by: no prefix that is another's.
 */

import { describe, test } from "vitest";

import { type Config, parseConfig } from "../../../../src/config/config.ts";
import {
  addedEgress,
  JoinedConfig,
  type OpenedServer,
  resolveAdded,
} from "../../../../src/config/registry/join-servers.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";

function configured(vars: Readonly<Record<string, unknown>> = {}): Config {
  const parsed = parseConfig({
    ...{ PUBLIC_ORIGIN: "https://gateway.example" },
    MCP_SERVERS: { inside: { url: "http://10.1.2.3:9000/mcp" } },
    ...vars,
  });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

function sentencesFor(entry: JsonObject, config = configured()): readonly string[] {
  const added = { slug: "tea", entry, secrets: { S: "s" } };
  const resolved = resolveAdded(added, config, addedEgress(config));
  return "sentences" in resolved ? resolved.sentences : [];
}

const PRIVATE = [
  ...["https://10.0.0.1/x", "https://169.254.169.254/x", "https://[fd00::1]/x"],
  ...["https://printer.local/x", "https://metadata.goog/x", "http://plain.example/x"],
  ...["https://gateway.example/x", "https://localhost/x", "https://a.example:8443/x"],
];
const PUBLIC = "https://tea.example/mcp";
const OWN = { clientId: "c", clientSecret: "${S}" };

describe("an added server", () => {
  test.for(PRIVATE)("is not at %s", (url, { expect }) => {
    expect(sentencesFor({ url })).toEqual([
      expect.stringMatching(/^tea\.url: The (?:host|address)/),
    ]);
  });

  test.for(
    PRIVATE.filter((url) => url.startsWith("https:")).flatMap((url) =>
      ["issuer", "authorizationEndpoint", "tokenEndpoint", "revocationEndpoint"].map(
        (key) => [key, url] as const,
      ),
    ),
  )("has no %s at %s, from which its accounts would be", ([key, url], { expect }) => {
    const oauth = { ...OWN, [key]: url };
    const sentences = sentencesFor({ url: PUBLIC, auth: "oauth", oauth });
    expect(sentences.join(" ")).toMatch(new RegExp(`tea\\.oauth\\.${key}: The (?:host|address)`));
  });

  test("may have accounts that are from a public place", ({ expect }) => {
    const oauth = { ...OWN, issuer: "https://login.example" };
    expect(sentencesFor({ url: PUBLIC, auth: "oauth", oauth })).toEqual([]);
  });

  test("may be where a server of MCP_SERVERS is, and at no other port or host of it", ({
    expect,
  }) => {
    expect(sentencesFor({ url: "http://10.1.2.3:9000/other" })).toEqual([]);
    expect(sentencesFor({ url: "http://10.1.2.3:9001/mcp" })).toHaveLength(1);
  });

  test.for([
    [{ AUTH_MODE: "none", PUBLIC_ORIGIN: undefined }, 0],
    [{ PUBLIC_ORIGIN: "http://localhost:8787" }, 0],
    [{}, 1],
  ] as const)("with %j is on this machine, or not: %i", ([vars, refusals], { expect }) => {
    const config = configured(vars);
    expect(addedEgress(config).allowsLoopback).toBe(refusals === 0);
    expect(sentencesFor({ url: "http://localhost:3001/mcp" }, config)).toHaveLength(refusals);
    expect(sentencesFor({ url: "http://10.0.0.1/mcp" }, config)).toHaveLength(1);
  });
});

function addedAs(slug: string, state: "live" | "paused" = "live"): OpenedServer {
  return {
    server: {
      ...{ slug, state, revision: 1, secretNames: [], provenance: { kind: "url" } },
      ...{ changedBy: "ann", changedAt: 0 },
      entry: { url: `https://${slug}.example/mcp`, prefix: "t_" },
    },
    secrets: {},
  };
}
function joined(
  servers: readonly OpenedServer[],
  config = configured(),
): { readonly served: readonly string[]; readonly said: string } {
  const state = { version: 1, settledAt: 0, servers, switches: {} };
  const { servers: all, notices } = new JoinedConfig(config).at(state);
  const said = notices.flatMap(({ sentences }) => sentences).join(" ");
  return { served: [...all.keys()].filter((slug) => slug !== "inside"), said };
}

describe("the prefix of an added server", () => {
  test("is that of the first one", ({ expect }) => {
    const { served, said } = joined([addedAs("one"), addedAs("two")]);
    expect(served).toEqual(["one"]);
    expect(said).toContain('two.prefix is "t_", as that of "one"');
  });

  // Calls meant for the first would go to the second, with their arguments.
  test("stays that of one that is paused", ({ expect }) => {
    const { served, said } = joined([addedAs("one", "paused"), addedAs("two")]);
    expect(served).toEqual([]);
    expect(said).toContain('two.prefix is "t_", as that of "one"');
  });

  test("is not that of an entry of MCP_SERVERS which a mistake keeps off", ({ expect }) => {
    const tea = { url: "https://tea.example/mcp", prefix: "t_", headers: { K: "${MISSING}" } };
    const config = configured({ MCP_SERVERS: { tea } });
    expect([...config.servers.keys()]).toEqual([]);
    const { served, said } = joined([addedAs("two")], config);
    expect(served).toEqual([]);
    expect(said).toContain('two.prefix is "t_", as that of "tea"');
  });
});
