/** Elicitations of a server by form and by URL, as a legacy client of each revision can read them. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import { ask, elicit, form, formless, page, UNDECLARED } from "./asked-legacy.ts";

const BEFORE_ELICITATION = ["2024-11-05", "2025-03-26"] as const;

const asForm = (properties: JsonObject): JsonObject => ({
  ...formless,
  requestedSchema: { $schema: "s", type: "object", properties, required: ["titled"] },
});

describe("elicitation", () => {
  test.for(BEFORE_ELICITATION)("%s has none, whatever is declared", (revision, { expect }) => {
    expect(elicit(form, revision)).toBe("elicitation");
    expect(elicit(page, revision)).toBe("elicitation");
  });

  test("2025-06-18 has forms, and no mode for them", ({ expect }) => {
    expect(elicit(form, "2025-06-18")).toEqual(formless);
    expect(elicit(formless, "2025-06-18")).toEqual(formless);
    expect(elicit(page, "2025-06-18")).toBe("elicitation by URL");
  });

  test("2025-11-25 has both, and an id for a URL", ({ expect }) => {
    expect(elicit(form, "2025-11-25")).toEqual(form);
    expect(elicit(formless, "2025-11-25")).toEqual(formless);
    expect(elicit(page, "2025-11-25")).toEqual({ ...page, elicitationId: "made-id" });
    const named = { ...page, elicitationId: "its-own" };
    expect(elicit(named, "2025-11-25")).toEqual(named);
  });

  test.for([
    { elicitation: {}, modes: ["form"] },
    { elicitation: { applyDefaults: true }, modes: ["form"] },
    { elicitation: { form: {} }, modes: ["form"] },
    { elicitation: { url: {} }, modes: ["url"] },
    { elicitation: { form: {}, url: {} }, modes: ["form", "url"] },
    { elicitation: undefined, modes: [] },
    { elicitation: true, modes: [] },
  ] as { elicitation: unknown; modes: string[] }[])(
    "$elicitation means $modes",
    ({ elicitation, modes }, { expect }) => {
      const kinds = { form, url: page };
      for (const [mode, params] of Object.entries(kinds)) {
        const asked = ask("elicitation/create", params, "2025-11-25", { elicitation });
        expect(asked.kind).toBe(modes.includes(mode) ? "ask" : "unsupported");
      }
      // Before there were modes, whatever was declared meant forms.
      const before = ask("elicitation/create", form, "2025-06-18", { elicitation });
      expect(before.kind).toBe(modes.length > 0 ? "ask" : "unsupported");
    },
  );

  test.for(LEGACY_REVISIONS)(
    "%s: an elicitation of an unknown mode is not sent",
    (revision, { expect }) => {
      const params = { ...form, mode: "SECRET" };
      expect(elicit(params, revision)).toBe(UNDECLARED);
    },
  );

  const choices = [
    { const: "a", title: "A" },
    { const: "b", title: "B" },
  ];
  const fields = {
    titled: { type: "string", title: "T", description: "D", oneOf: choices, default: "a" },
    named: { type: "string", enum: ["a"], enumNames: ["A"] },
    plain: { type: "string", enum: ["a"], default: "a" },
    yes: { type: "boolean", default: true },
    mail: { type: "string", format: "email", default: "a@x.test" },
  };

  test("choices with titles are two lists at 2025-06-18", ({ expect }) => {
    const titled = {
      ...{ type: "string", title: "T", description: "D", default: "a" },
      ...{ enum: ["a", "b"], enumNames: ["A", "B"] },
    };
    expect(elicit(asForm(fields), "2025-06-18")).toEqual(asForm({ ...fields, titled }));
    expect(elicit(asForm(fields), "2025-11-25")).toEqual(asForm(fields));
  });

  test("a choice without a title has its value as title", ({ expect }) => {
    const titled = { type: "string", oneOf: [{ const: "a" }] };
    const asked = elicit(asForm({ titled }), "2025-06-18");
    expect(asked).toMatchObject({
      requestedSchema: { properties: { titled: { enum: ["a"], enumNames: ["a"] } } },
    });
  });

  test.for([{ oneOf: [] }, { oneOf: [{ const: 1 }] }, { oneOf: ["a"] }, { oneOf: "a" }, 7])(
    "%j is no list of choices, and stays",
    (field, { expect }) => {
      expect(elicit(asForm({ field }), "2025-06-18")).toEqual(asForm({ field }));
    },
  );

  test.for([
    { type: "array", items: { type: "string", enum: ["a"] } },
    { type: "array", items: { anyOf: choices }, minItems: 0 },
  ])("several choices need 2025-11-25: %j", (field, { expect }) => {
    expect(elicit(asForm({ field }), "2025-06-18")).toBe("elicitation of several choices");
    expect(elicit(asForm({ field }), "2025-11-25")).toEqual(asForm({ field }));
  });

  test("a form without fields, or none, is the client's to judge", ({ expect }) => {
    for (const requestedSchema of [{ type: "object" }, "form", undefined]) {
      expect(elicit({ message: "?", requestedSchema }, "2025-06-18")).toEqual({
        message: "?",
        requestedSchema,
      });
    }
  });
});
