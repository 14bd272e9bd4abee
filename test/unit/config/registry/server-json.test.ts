/** Entries of the official registry: the examples of its documentation, and what goes wrong in a list. */

import { describe, test } from "vitest";

import { fillIn } from "../../../../src/config/registry/fill-in.ts";
import { readPasted } from "../../../../src/config/registry/pasted.ts";
import type { Candidate, Left } from "../../../../src/observability/pasted-servers.ts";

const $schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const OFFICIAL = "io.modelcontextprotocol.registry/official";

/** With several remotes and a package. */
const HYBRID = {
  ...{ $schema, name: "io.modelcontextprotocol.anonymous/hybrid-mcp", title: "Hybrid" },
  description: "MCP server available as both local package and remote service",
  version: "1.5.0",
  packages: [
    {
      ...{ registryType: "npm", registryBaseUrl: "https://registry.npmjs.org", version: "1.5.0" },
      ...{ identifier: "@example/hybrid-mcp-server", transport: { type: "stdio" } },
    },
  ],
  remotes: [
    {
      type: "streamable-http",
      url: "https://mcp.anonymous.modelcontextprotocol.io/http",
      headers: [
        {
          ...{ name: "X-API-Key", description: "API key for authentication" },
          ...{ isRequired: true, isSecret: true },
        },
        {
          ...{ name: "X-Region", description: "Service region", default: "us-east-1" },
          choices: ["us-east-1", "eu-west-1", "ap-southeast-1"],
        },
      ],
    },
    { type: "sse", url: "https://mcp.anonymous.modelcontextprotocol.io/sse" },
  ],
};

/** With a variable in the address. */
const MULTI_REGION = {
  ...{ $schema, name: "com.example/multi-region-mcp", title: "Multi-Region MCP", version: "1.0.0" },
  description: "MCP server with regional endpoints",
  remotes: [
    {
      type: "streamable-http",
      url: "https://api.example.com/{region}/mcp",
      variables: {
        region: {
          ...{ description: "Deployment region", isRequired: true, default: "us-east-1" },
          choices: ["us-east-1", "eu-west-1", "ap-southeast-1"],
        },
      },
    },
  ],
};

/** With packages only. */
const WEATHER = {
  ...{ $schema, name: "io.github.example/weather-mcp", title: "Weather", version: "0.5.0" },
  description: "Python MCP server for weather data access",
  packages: [
    {
      ...{ registryType: "pypi", identifier: "weather-mcp-server", version: "0.5.0" },
      transport: { type: "stdio" },
      environmentVariables: [{ name: "WEATHER_API_KEY", isRequired: true, isSecret: true }],
    },
  ],
};

/** @throws Error when nothing could be read. */
function itemsOf(pasted: unknown): readonly (Candidate | Left)[] {
  const read = readPasted(JSON.stringify(pasted));
  if (read.kind === "mistake") throw new Error(read.sentence);
  return read.items;
}

/** @throws Error when the first remote is left out. */
function candidate(pasted: unknown): Candidate {
  const [item] = itemsOf(pasted);
  if (item?.kind !== "candidate") throw new Error(item?.sentence);
  return item;
}

function remote(members: object): object {
  const remotes = [{ type: "streamable-http", url: "https://a.example/mcp", ...members }];
  return { $schema, name: "com.example/a", version: "1", remotes };
}

const header = (members: object) => remote({ headers: [members] });

describe("the registry's own examples", () => {
  test("R2: each remote is a candidate, with the headers that it asks for", ({ expect }) => {
    const provenance = { kind: "server.json", name: HYBRID.name, version: "1.5.0" };
    const [first, second] = itemsOf(HYBRID);
    expect(first).toEqual({
      ...{ kind: "candidate", slug: "hybrid-mcp", label: "Hybrid", provenance },
      entry: {
        ...{ url: "https://mcp.anonymous.modelcontextprotocol.io/http", type: "streamable-http" },
        headers: { "X-API-Key": "${X_API_KEY}", "X-Region": "${X_REGION}" },
      },
      fields: [
        {
          ...{ name: "X_API_KEY", label: "X-API-Key", isSecret: true, isRequired: true },
          description: "API key for authentication",
        },
        {
          ...{ name: "X_REGION", label: "X-Region", isSecret: false, isRequired: false },
          ...{ description: "Service region", initial: "us-east-1" },
          choices: ["us-east-1", "eu-west-1", "ap-southeast-1"],
        },
      ],
      ...{ secrets: {}, remarks: [] },
    });
    expect(second).toMatchObject({
      ...{ slug: "hybrid-mcp-2", fields: [] },
      entry: { url: "https://mcp.anonymous.modelcontextprotocol.io/sse", type: "sse" },
    });
  });

  test("R5: a variable of the address is a field with its choices, and no other value is taken", ({
    expect,
  }) => {
    const read = candidate(MULTI_REGION);
    expect(read).toMatchObject({
      entry: { url: "https://api.example.com/${REGION}/mcp" },
      fields: [{ name: "REGION", label: "region", isSecret: false, initial: "us-east-1" }],
    });
    const entry = { url: "https://api.example.com/eu-west-1/mcp", type: "streamable-http" };
    expect(fillIn(read, { REGION: "eu-west-1" })).toEqual({ entry, secrets: {} });
    expect(fillIn(read, {})).toMatchObject({
      entry: { url: "https://api.example.com/us-east-1/mcp" },
    });
    expect(fillIn(read, { REGION: "moon" })).toEqual({
      sentence: '"region" must be one of "us-east-1", "eu-west-1", "ap-southeast-1".',
    });
    expect(fillIn(read, { REGION: "" })).toEqual({ sentence: '"region" needs a value.' });
  });

  test("R3: packages alone say how to publish from a machine", ({ expect }) => {
    expect(itemsOf(WEATHER)).toEqual([
      {
        ...{ kind: "left", name: WEATHER.name },
        sentence: expect.stringContaining('publish it from one with "edgeway publish"'),
      },
    ]);
  });
});

function listed(server: unknown, status = "active"): object {
  return { server, _meta: { [OFFICIAL]: { status } } };
}

describe("a list of the registry", () => {
  test("R7: is read with its wrappers; one that is malformed is named, and the others are read", ({
    expect,
  }) => {
    const servers = [
      listed(HYBRID),
      { server: { description: "no name" } },
      "nonsense",
      listed({ ...MULTI_REGION, remotes: [{ type: "carrier-pigeon", url: 1 }] }),
      listed(MULTI_REGION),
    ];
    for (const pasted of [{ servers, metadata: { count: 5 } }, servers]) {
      const items = itemsOf(pasted);
      expect(items.map((item) => (item.kind === "left" ? item.sentence : item.slug))).toEqual([
        ...["hybrid-mcp", "hybrid-mcp-2"],
        "Entry 2 has no name, so it is no server.json.",
        "Entry 3 has no name, so it is no server.json.",
        expect.stringMatching(/^com\.example\/multi-region-mcp: remotes\.0\.type: must be one of/),
        "multi-region-mcp",
      ]);
    }
  });

  test.for(["deprecated", "deleted"])("R4: one that is %s is left", (status, { expect }) => {
    const sentence = `${HYBRID.name} is ${status} in the registry.`;
    for (const pasted of [listed(HYBRID, status), { ...HYBRID, status }]) {
      expect(itemsOf(pasted)).toEqual([{ kind: "left", name: HYBRID.name, sentence }]);
    }
  });

  test("a client's map is none", ({ expect }) => {
    const map = { servers: { server: { url: "https://a.example/mcp" } } };
    expect(itemsOf(map)).toMatchObject([{ slug: "server", provenance: { kind: "map" } }]);
  });
});

describe("values", () => {
  test("a template of a header has a field for each of its variables", ({ expect }) => {
    const variables = {
      token: { description: "From the settings", isRequired: true, isSecret: true },
      scheme: { value: "Bearer" },
    };
    const value = "{scheme} {token} {other}";
    const read = candidate(header({ name: "Authorization", value, variables }));
    expect(read).toMatchObject({
      entry: { headers: { Authorization: "Bearer ${TOKEN} {other}" } },
      fields: [{ name: "TOKEN", isSecret: true, isRequired: true }],
    });
    expect(fillIn(read, { TOKEN: "t${X}" })).toMatchObject({
      entry: { headers: { Authorization: "Bearer ${TOKEN} {other}" } },
      secrets: { TOKEN: "t${X}" },
    });
    expect(fillIn(read, {})).toEqual({ sentence: '"token" needs a value.' });
    expect(fillIn(read, { TOKEN: "a\nb" })).toEqual({
      sentence: 'No header can have this value: "Authorization".',
    });
  });

  test("a fixed header stays, and a fixed secret is taken out", ({ expect }) => {
    expect(candidate(header({ name: "X-Client", value: "edge" }))).toMatchObject({
      ...{ entry: { headers: { "X-Client": "edge" } }, fields: [] },
    });
    const read = candidate(header({ name: "X-Api-Key", value: "hunter2" }));
    expect(read).toMatchObject({ secrets: { X_API_KEY: "hunter2" } });
    expect(JSON.stringify({ ...read, secrets: {} })).not.toContain("hunter2");
    expect(fillIn(read, { X_API_KEY: "" })).toMatchObject({ secrets: { X_API_KEY: "hunter2" } });
    expect(fillIn(read, { X_API_KEY: "new" })).toMatchObject({ secrets: { X_API_KEY: "new" } });
  });

  test("the default of a secret is kept as one", ({ expect }) => {
    const read = candidate(header({ name: "X-Id", isSecret: true, default: "hunter2" }));
    expect(read).toMatchObject({ secrets: { X_ID: "hunter2" }, fields: [{ isRequired: false }] });
    expect(JSON.stringify(read.fields)).not.toContain("hunter2");
  });

  test("a header that may be left out is, without a value", ({ expect }) => {
    const read = candidate(header({ name: "X-Region" }));
    expect(fillIn(read, { X_REGION: " " })).toMatchObject({ entry: { headers: {} }, secrets: {} });
    expect(fillIn(read, { X_REGION: "eu" })).toMatchObject({
      entry: { headers: { "X-Region": "eu" } },
    });
  });

  test("a value that could be read as a placeholder is kept as a secret", ({ expect }) => {
    const read = candidate(header({ name: "X-Region" }));
    expect(fillIn(read, { X_REGION: "${VAULT}" })).toMatchObject({
      ...{ entry: { headers: { "X-Region": "${X_REGION}" } }, secrets: { X_REGION: "${VAULT}" } },
    });
  });

  test("a query may have a hole in it, and an address no secret", ({ expect }) => {
    const read = candidate(remote({ url: "https://{host}/mcp?team={team}" }));
    expect(read.fields.map(({ name, isRequired }) => [name, isRequired])).toEqual([
      ["HOST", true],
      ["TEAM", false],
    ]);
    expect(fillIn(read, { HOST: "a.example" })).toMatchObject({
      entry: { url: "https://a.example/mcp?team=" },
    });
    expect(fillIn(read, { HOST: "a b" })).toEqual({
      sentence: "These values make no http or https address.",
    });
    const secret = remote({ url: "https://a.example/{t}", variables: { t: { isSecret: true } } });
    expect(itemsOf(secret)).toMatchObject([
      { kind: "left", sentence: expect.stringContaining("has a secret in it") },
    ]);
  });
});
