/** Values that clients carry for the gateway: who may use them, and that no client can forge them. */

import * as fc from "fast-check";
import { test } from "vitest";

import { sealFor, unsealFor } from "../../../src/endpoint/sealed.ts";
import { keysOf } from "../catalog/lists/merged-world.ts";

const holder = { keys: keysOf(1), principal: "alice", route: "/mcp" };

test("a sealed value comes back as JSON carries it", async ({ expect }) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const sealed = await sealFor(holder, "cursor", value);
      expect(sealed).toMatch(/^[\x21-\x7e]+$/);
      expect(await unsealFor(holder, "cursor", sealed)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 50 },
  );
});

test.for([
  { name: "another principal", other: { principal: "bob" } },
  { name: "another endpoint", other: { route: "/mcp/docs" } },
  { name: "another gateway", other: { keys: keysOf(2) } },
])("a sealed value is not accepted for $name", async ({ other }, { expect }) => {
  const sealed = await sealFor(holder, "cursor", "x");
  expect(await unsealFor({ ...holder, ...other }, "cursor", sealed)).toBeUndefined();
  expect(await unsealFor(holder, "cursor", sealed)).toBe("x");
});

test("a sealed value is not accepted for another purpose, and nothing else is accepted", async ({
  expect,
}) => {
  const sealed = await sealFor(holder, "cursor", "x");
  expect(await unsealFor(holder, "request-state", sealed)).toBeUndefined();
  for (const text of ["", ".", "x", sealed.slice(1), sealed.slice(0, -1), `${sealed} `]) {
    expect(await unsealFor(holder, "cursor", text)).toBeUndefined();
  }
});
