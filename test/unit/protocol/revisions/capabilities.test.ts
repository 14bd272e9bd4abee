/** Capabilities and introductions that cross from one era to the other. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import {
  legacyClientToModernServer,
  legacyServerToModernClient,
  modernClientToLegacyServer,
  modernServerToLegacyClient,
} from "../../../../src/protocol/revisions/translate-capabilities.ts";
import { lackingOf } from "../../../../src/protocol/revisions/client-abilities.ts";
import { discoveryOf, introducedTo } from "../../../../src/protocol/revisions/introductions.ts";

const UI = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
const others = {
  ...{ tasks: { list: {} }, experimental: { x: {} }, "com.example/own": {} },
  extensions: { ...UI, "io.modelcontextprotocol/tasks": {} },
};
const server = {
  ...{ tools: { listChanged: true }, prompts: { listChanged: true }, completions: {} },
  ...{ resources: { listChanged: true, subscribe: true }, logging: {}, ...others },
};
const { tools, prompts, resources, completions, logging } = server;
const crossing = { tools, prompts, resources, completions, logging, extensions: UI };

describe("of servers", () => {
  test.for(LEGACY_REVISIONS)("a modern one, to a client of %s", (revision, { expect }) => {
    const { completions: _, ...rest } = crossing;
    expect(modernServerToLegacyClient(server, revision)).toEqual(
      revision === "2024-11-05" ? rest : crossing,
    );
  });

  test("a legacy one, to a modern client", ({ expect }) => {
    expect(legacyServerToModernClient(server, true)).toEqual(crossing);
    expect(legacyServerToModernClient(server, false)).toEqual({
      ...crossing,
      ...{ tools: {}, prompts: {}, resources: {} },
    });
  });

  test("true is an object, and anything else that is none is nothing", ({ expect }) => {
    const said = { tools: true, prompts: false, resources: null, logging: "yes", completions: [] };
    expect(legacyServerToModernClient(said, true)).toEqual({ tools: {} });
    expect(modernServerToLegacyClient(said, "2025-11-25")).toEqual({ tools: {} });
    expect(legacyServerToModernClient({}, false)).toEqual({});
  });
});

describe("of clients", () => {
  const client = {
    ...{ roots: { listChanged: true }, sampling: { tools: {}, context: { a: 1 } } },
    ...{ elicitation: { form: { applyDefaults: true }, url: {} }, ...others },
  };
  const full = {
    ...{ roots: {}, sampling: { tools: {}, context: { a: 1 } } },
    ...{ elicitation: { form: { applyDefaults: true }, url: {} }, extensions: UI },
  };

  test.for(LEGACY_REVISIONS)("of %s, to a modern server", (revision, { expect }) => {
    const { sampling: _, elicitation: __, ...rest } = full;
    const before = { ...rest, sampling: {} };
    const declared = {
      "2024-11-05": before,
      "2025-03-26": before,
      "2025-06-18": { ...before, elicitation: { form: {} } },
      "2025-11-25": full,
    }[revision];
    expect(legacyClientToModernServer({ revision, capabilities: client })).toEqual(declared);
  });

  test("a modern one, to a legacy server", ({ expect }) => {
    expect(modernClientToLegacyServer(client)).toEqual(full);
    expect(modernClientToLegacyServer({})).toEqual({});
  });

  test.for([
    { declared: {}, modes: { form: {} } },
    { declared: { url: {} }, modes: { url: {} } },
    { declared: { form: true }, modes: { form: {} } },
    { declared: true, modes: undefined },
  ])("elicitation $declared means $modes", ({ declared, modes }, { expect }) => {
    const capabilities = { elicitation: declared, roots: 1, sampling: [] };
    const translated = legacyClientToModernServer({ revision: "2025-11-25", capabilities });
    expect(translated).toEqual(modes === undefined ? {} : { elicitation: modes });
  });
});

describe("lackingOf()", () => {
  test.for<{ required: unknown; declared: JsonObject; lacking: string[] }>([
    { required: { sampling: {} }, declared: {}, lacking: ["sampling"] },
    { required: { sampling: { tools: {} } }, declared: {}, lacking: ["sampling with tools"] },
    {
      required: { sampling: { tools: {}, context: {} } },
      declared: { sampling: { tools: {} } },
      lacking: ["sampling with context"],
    },
    { required: { elicitation: {} }, declared: { elicitation: { url: {} } }, lacking: [] },
    {
      required: { elicitation: { form: {} } },
      declared: { elicitation: { url: {} } },
      lacking: ["elicitation by form"],
    },
    { required: { elicitation: { form: {} } }, declared: { elicitation: {} }, lacking: [] },
    {
      required: { roots: {}, elicitation: { url: {} } },
      declared: { elicitation: {} },
      lacking: ["roots", "elicitation by URL"],
    },
    { required: { "SECRET words": {}, extensions: { x: {} } }, declared: {}, lacking: [] },
    { required: { sampling: true }, declared: {}, lacking: [] },
    { required: "sampling", declared: {}, lacking: [] },
    { required: undefined, declared: {}, lacking: [] },
  ])("$required of $declared: $lacking", ({ required, declared, lacking }, { expect }) => {
    expect(lackingOf(required, declared)).toEqual(lacking);
  });
});

describe("introductions", () => {
  const serverInfo = { name: "s", version: "1", title: "S", icons: [] };

  test("a discovery answers initialize", ({ expect }) => {
    const discovery = {
      ...{ resultType: "complete", supportedVersions: ["2026-07-28"], ttlMs: 1 },
      ...{ cacheScope: "public", capabilities: server, instructions: "Do." },
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    };
    expect(introducedTo("2025-11-25", discovery, "slug")).toEqual({
      ...{ capabilities: crossing, serverInfo, instructions: "Do." },
    });
    const named = { name: "draft", version: "2" };
    const { _meta: _, ...draft } = { ...discovery, serverInfo: named };
    expect(introducedTo("2025-11-25", draft, "slug")).toMatchObject({ serverInfo: named });
  });

  test.for([undefined, null, "s", { title: "S" }])(
    "a server named %j is named all the same",
    (info, { expect }) => {
      const discovery = { _meta: { "io.modelcontextprotocol/serverInfo": info } };
      const { serverInfo: named, ...rest } = introducedTo("2024-11-05", discovery, "slug");
      expect(named).toMatchObject({ name: "slug", version: "" });
      expect(rest).toEqual({ capabilities: {} });
    },
  );

  test("a handshake answers server/discover", ({ expect }) => {
    const handshake = { capabilities: server, serverInfo };
    const discovery = {
      ...{ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: crossing },
      ...{ ttlMs: 7, cacheScope: "private" },
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    };
    expect(discoveryOf(handshake, true, 7)).toEqual(discovery);
    expect(discoveryOf({ ...handshake, instructions: "Do." }, false, 7)).toEqual({
      ...discovery,
      ...{ instructions: "Do.", capabilities: legacyServerToModernClient(server, false) },
    });
  });
});
