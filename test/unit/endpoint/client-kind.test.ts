/** The properties of a client that change what servers list, and no others. */

import * as fc from "fast-check";
import { test } from "vitest";

import { clientKey, clientKind } from "../../../src/endpoint/client-kind.ts";

const UI = "io.modelcontextprotocol/ui";
const UI_TYPE = "text/html;profile=mcp-app";
const kind = (capabilities: Record<string, unknown>) =>
  clientKind("2025-11-25", capabilities).capabilities;

test.for<{ name: string; declared: Record<string, unknown>; relevant: object }>([
  { name: "nothing", declared: {}, relevant: {} },
  {
    name: "everything",
    declared: {
      ...{ sampling: { tools: {}, context: {} }, roots: { listChanged: true } },
      elicitation: { url: {}, form: {} },
      extensions: { [UI]: { mimeTypes: [UI_TYPE] } },
    },
    relevant: {
      ...{ elicitation: { form: {}, url: {} }, roots: {}, sampling: { context: {}, tools: {} } },
      extensions: { [UI]: { mimeTypes: [UI_TYPE] } },
    },
  },
  {
    name: "elicitation without a mode, which means forms",
    declared: { elicitation: {} },
    relevant: { elicitation: { form: {} } },
  },
  {
    name: "elicitation by URL only",
    declared: { elicitation: { url: {} } },
    relevant: { elicitation: { url: {} } },
  },
  {
    name: "an extension that is sent to no server",
    declared: {
      extensions: { "com.example/x": {}, "io.modelcontextprotocol/tasks": {} },
      ...{ experimental: { x: {} }, tasks: {} },
    },
    relevant: {},
  },
  {
    name: "views of unknown types",
    declared: { extensions: { [UI]: { mimeTypes: ["text/x", 7, UI_TYPE, "y"] } } },
    relevant: { extensions: { [UI]: { mimeTypes: [UI_TYPE] } } },
  },
  {
    name: "views of no type",
    declared: { extensions: { [UI]: { mimeTypes: "all", x: 1 } } },
    relevant: { extensions: { [UI]: {} } },
  },
  {
    name: "what makes no sense",
    declared: { sampling: true, roots: null, elicitation: [], extensions: { [UI]: 1 } },
    relevant: {},
  },
])("$name", ({ declared, relevant }, { expect }) => {
  expect(kind(declared)).toEqual(relevant);
});

const key = (...args: Parameters<typeof clientKind>) => clientKey(clientKind(...args));

test("clients of one kind have one key, in whatever order they declare, and no others", ({
  expect,
}) => {
  expect(key("2026-07-28", { roots: { x: 1 }, sampling: {} })).toBe(
    key("2026-07-28", { sampling: { junk: {} }, roots: {} }),
  );
  const keys = [
    key("2026-07-28", {}),
    key("2025-11-25", {}),
    key("2026-07-28", { sampling: {} }),
    key("2026-07-28", { sampling: { tools: {} } }),
    key("2026-07-28", { roots: {} }),
    key("2026-07-28", { elicitation: {} }),
    key("2026-07-28", { elicitation: { url: {} } }),
    key("2026-07-28", { extensions: { [UI]: {} } }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test("a client cannot make up a kind", ({ expect }) => {
  const junk = fc.dictionary(
    fc.constantFrom("form", "url", "tools", "context", UI, "mimeTypes", "x"),
    fc.jsonValue(),
  );
  const declared = fc.dictionary(
    fc.constantFrom("sampling", "roots", "elicitation", "extensions", "x", "__proto__"),
    junk,
  );
  const known =
    /^\["2025-11-25",\{("elicitation":\{("form":\{\})?,?("url":\{\})?\},?)?("roots":\{\},?)?("sampling":\{("context":\{\})?,?("tools":\{\})?\},?)?("extensions":\{"io\.modelcontextprotocol\/ui":\{("mimeTypes":\["text\/html;profile=mcp-app"\])?\}\})?\}\]$/;
  fc.assert(
    fc.property(declared, (capabilities) => {
      expect(clientKey(clientKind("2025-11-25", capabilities))).toMatch(known);
    }),
  );
});
