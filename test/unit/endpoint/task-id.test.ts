/** The ids of tasks: the server and id that they stand for, who can use them, and that they fit into a header. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { sealFor } from "../../../src/endpoint/sealed.ts";
import { openTaskId, sealTaskId } from "../../../src/endpoint/task-id.ts";
import { isTaskId } from "../../../src/protocol/tasks-extension.ts";
import { decodeHeaderValue, encodeHeaderValue } from "../../../src/protocol/header-value.ts";
import { keysOf } from "../catalog/lists/merged-world.ts";

const holder = { keys: keysOf(1), principal: "alice", route: "/mcp" };
const place = { slug: "docs", taskId: "786512e2-9e0d-44bd-8f29-789f320fe840" };

test("a task id leads back to the server and its own id, as plain text of a header", async ({
  expect,
}) => {
  const ids = fc.string({ unit: "binary", minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(ids, async (taskId) => {
      const sealed = await sealTaskId(holder, "task", { slug: "docs", taskId });
      expect(encodeHeaderValue(sealed)).toBe(sealed);
      expect(decodeHeaderValue(sealed)).toBe(sealed);
      expect(await openTaskId(holder, "task", sealed)).toEqual({ slug: "docs", taskId });
    }),
    { numRuns: 50 },
  );
});

test("a task id reveals nothing of the task, not even that two ids are of one task", async ({
  expect,
}) => {
  const sealed = await sealTaskId(holder, "task", place);
  expect(sealed).not.toContain(place.taskId);
  expect(sealed).not.toBe(await sealTaskId(holder, "task", place));
});

test("a task id is short enough for every server's headers, however long the server's own", async ({
  expect,
}) => {
  const usual = await sealTaskId(holder, "task", place);
  expect(usual.length).toBeLessThan(256);
  const longest = await sealTaskId(holder, "task", {
    slug: "s".repeat(24),
    taskId: "é".repeat(2048),
  });
  expect(longest.length).toBeLessThan(8 * 1024);
});

test.for([
  { name: "another principal", other: { principal: "bob" } },
  { name: "another endpoint", other: { route: "/mcp/docs" } },
  { name: "another gateway", other: { keys: keysOf(2) } },
])("a task id is not accepted for $name", async ({ other }, { expect }) => {
  const sealed = await sealTaskId(holder, "task", place);
  expect(await openTaskId({ ...holder, ...other }, "task", sealed)).toBeUndefined();
});

describe("a task id is not", () => {
  test.for<[name: string, forged: () => Promise<unknown>]>([
    ["a server's own", () => Promise.resolve(place.taskId)],
    ["a cursor", () => sealFor(holder, "cursor", { s: "docs", t: "t" })],
    ["without a server", () => sealFor(holder, "task", { t: "t" })],
    ["without an id", () => sealFor(holder, "task", { s: "docs" })],
    ["with an empty id", () => sealFor(holder, "task", { s: "docs", t: "" })],
    ["sealed text", () => sealFor(holder, "task", "docs")],
    ["cut", async () => (await sealTaskId(holder, "task", place)).slice(0, -1)],
    ["no text", () => Promise.resolve({ slug: "docs" })],
    ["none", () => Promise.resolve(undefined)],
  ])("%s", async ([, forged], { expect }) => {
    expect(await openTaskId(holder, "task", await forged())).toBeUndefined();
  });

  test.for([undefined, null, 7, {}, [], "", "x".repeat(2049)])(
    "made for an id of a server that is %j",
    (id, { expect }) => {
      expect(isTaskId(id)).toBe(false);
    },
  );

  test.for(["x", "é", " ", "x".repeat(2048)])(
    "refused for an id of a server that is %j",
    (id, { expect }) => {
      expect(isTaskId(id)).toBe(true);
    },
  );
});
