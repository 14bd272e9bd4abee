/** The per-request envelope of 2026-07-28. */

import { describe, test } from "vitest";

import { Meta, metaOf, readEnvelope, withMeta } from "../../../src/protocol/envelope.ts";

const whole = { [Meta.protocolVersion]: "2026-07-28", [Meta.clientCapabilities]: { roots: {} } };
const info = { name: "client", version: "1.0" };

describe("readEnvelope()", () => {
  test.for([
    { name: "no params", params: undefined },
    { name: "no _meta", params: {} },
    { name: "a _meta that is a list", params: { _meta: [] } },
    { name: "a _meta that is null", params: { _meta: null } },
    { name: "a _meta about something else", params: { _meta: { progressToken: 1 } } },
    { name: "capabilities alone", params: { _meta: { [Meta.clientCapabilities]: {} } } },
    { name: "an inherited claim", params: { _meta: Object.create(whole) as object } },
  ])("finds no claim in $name", ({ params }, { expect }) => {
    expect(readEnvelope(params)).toEqual({ kind: "none" });
  });

  test.for([
    { name: "what is required", meta: whole, clientInfo: undefined },
    { name: "client info", meta: { ...whole, [Meta.clientInfo]: info }, clientInfo: info },
    { name: "other keys", meta: { ...whole, progressToken: 0, traceparent: "x" } },
  ])("reads $name", ({ meta, clientInfo }, { expect }) => {
    const reading = readEnvelope({ _meta: meta });
    expect(reading).toEqual({
      kind: "valid",
      envelope: {
        protocolVersion: "2026-07-28",
        clientCapabilities: { roots: {} },
        ...(clientInfo === undefined ? {} : { clientInfo }),
      },
    });
    if (reading.kind === "valid") {
      expect("clientInfo" in reading.envelope).toBe(clientInfo !== undefined);
    }
  });

  test.for([
    { name: "a null version", change: { [Meta.protocolVersion]: null }, keys: ["protocolVersion"] },
    { name: "a numeric version", change: { [Meta.protocolVersion]: 2 }, keys: ["protocolVersion"] },
    {
      name: "missing capabilities",
      change: { [Meta.clientCapabilities]: undefined },
      keys: ["clientCapabilities"],
    },
    {
      name: "capabilities that are null",
      change: { [Meta.clientCapabilities]: null },
      keys: ["clientCapabilities"],
    },
    {
      name: "info without version",
      change: { [Meta.clientInfo]: { name: "c" } },
      keys: ["clientInfo"],
    },
    { name: "info that is a string", change: { [Meta.clientInfo]: "c" }, keys: ["clientInfo"] },
    {
      name: "everything wrong at once",
      change: {
        [Meta.protocolVersion]: 1,
        [Meta.clientCapabilities]: [],
        [Meta.clientInfo]: { name: 1, version: 2 },
      },
      keys: ["protocolVersion", "clientCapabilities", "clientInfo"],
    },
  ])("names every key that is wrong: $name", ({ change, keys }, { expect }) => {
    expect(readEnvelope({ _meta: { ...whole, ...change } })).toEqual({
      kind: "malformed",
      problems: keys.map((key) => expect.stringContaining(`io.modelcontextprotocol/${key}`)),
    });
  });
});

test("metaOf() is never anything but an object", ({ expect }) => {
  expect(metaOf({ _meta: { a: 1 } })).toEqual({ a: 1 });
  for (const params of [undefined, {}, { _meta: null }, { _meta: [1] }, { _meta: "a" }]) {
    expect(metaOf(params)).toEqual({});
  }
});

test("withMeta() replaces _meta, leaves the rest alone, and leaves an empty one out", ({
  expect,
}) => {
  const params = { name: "t", _meta: { old: 1 } };
  expect(withMeta(params, { fresh: 2 })).toEqual({ name: "t", _meta: { fresh: 2 } });
  expect(Object.keys(withMeta(params, {}))).toEqual(["name"]);
  expect(withMeta(undefined, { fresh: 2 })).toEqual({ _meta: { fresh: 2 } });
  expect(params).toEqual({ name: "t", _meta: { old: 1 } });
});
