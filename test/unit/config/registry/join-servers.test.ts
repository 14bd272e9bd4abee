/** Where an added server may be: no address of it leads further into a network than the configuration does. */

import { describe, test } from "vitest";

import { type Config, parseConfig } from "../../../../src/config/config.ts";
import { addedEgress, resolveAdded } from "../../../../src/config/registry/join-servers.ts";
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
