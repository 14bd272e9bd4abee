/** A listed tool in the client's revision, whichever era its server speaks. */

import { describe, test } from "vitest";

import { presentTool } from "../../../../src/catalog/lists/list-page.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { type Era, LEGACY_REVISIONS, type Revision } from "../../../../src/protocol/revisions.ts";

const MODERN = "2026-07-28";

const present = (tool: JsonObject, era: Era, revision: Revision): JsonObject =>
  presentTool(tool, era, clientKind(revision, {}));

const annotated = (type: string): JsonObject => ({
  name: "work",
  inputSchema: { type: "object", properties: { a: { type, "x-mcp-header": "A" } } },
});
const LAWFUL = annotated("string");
const BAD = annotated("object");
const TASKS = { name: "work", execution: { taskSupport: "required" } };
const LISTING = { name: "work", outputSchema: { type: "array", items: { type: "string" } } };
const OBJECT = {
  ...{ name: "work", title: "Work", _meta: { mine: 1 }, annotations: { readOnlyHint: true } },
  inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  outputSchema: { type: "object", properties: { b: { type: "number" } } },
};

describe.for(LEGACY_REVISIONS)("for a client of %s", (revision) => {
  test.for<Era>(["legacy", "modern"])(
    "a tool of a %s server stays unchanged",
    (era, { expect }) => {
      expect(present(OBJECT, era, revision)).toEqual(OBJECT);
      expect(present(LAWFUL, era, revision)).toEqual(LAWFUL);
    },
  );

  test.for<Era>(["legacy", "modern"])(
    "tasks of a tool of a %s server are removed",
    (era, { expect }) => {
      expect(present(TASKS, era, revision)).toEqual({ name: "work" });
    },
  );

  test("the output of a modern server's tool becomes an object", ({ expect }) => {
    expect(present(LISTING, "modern", revision)).toEqual({
      name: "work",
      outputSchema: {
        type: "object",
        properties: { result: LISTING.outputSchema },
        required: ["result"],
      },
    });
    // Anything is not an object here, and is one there.
    const open = { name: "work", outputSchema: { title: "Anything" } };
    expect(present(open, "modern", revision)["outputSchema"]).toMatchObject({
      required: ["result"],
    });
    expect(present(open, "legacy", revision)["outputSchema"]).toEqual({
      ...{ title: "Anything", type: "object" },
    });
  });

  test("invalid header annotations of a legacy server's tool stay", ({ expect }) => {
    expect(present(BAD, "legacy", revision)).toEqual(BAD);
  });
});

describe("for a client of 2026-07-28", () => {
  test("a tool of a modern server stays unchanged", ({ expect }) => {
    for (const tool of [OBJECT, LAWFUL, LISTING, TASKS]) {
      expect(present(tool, "modern", MODERN)).toBe(tool);
    }
  });

  test("a tool of a legacy server loses the members of 2025-11-25", ({ expect }) => {
    expect(present(TASKS, "legacy", MODERN)).toEqual({ name: "work" });
    expect(present(OBJECT, "legacy", MODERN)).toEqual(OBJECT);
  });

  test("valid annotations of a legacy server stay, and invalid ones are removed", ({ expect }) => {
    expect(present(LAWFUL, "legacy", MODERN)).toEqual(LAWFUL);
    expect(present(BAD, "legacy", MODERN)).toEqual({
      name: "work",
      inputSchema: { type: "object", properties: { a: { type: "object" } } },
    });
  });
});
