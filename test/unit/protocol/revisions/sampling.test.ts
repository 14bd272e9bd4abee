/** What a server wants of a model, as a legacy client of each revision can be asked for it. */

import { describe, test } from "vitest";

import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import { sample, text, message, plain, BEFORE_MODES } from "./asked-legacy.ts";

describe("sampling", () => {
  test.for(LEGACY_REVISIONS)("%s: has to be declared", (revision, { expect }) => {
    expect(sample(plain, revision)).toEqual(plain);
    expect(sample(plain, revision, { sampling: {} })).toEqual(plain);
    expect(sample(plain, revision, {})).toBe("sampling");
    expect(sample(plain, revision, { sampling: true })).toBe("sampling");
  });

  const tools = [{ name: "a", inputSchema: { type: "object" } }];
  const use = { type: "tool_use", id: "1", name: "a", input: {} };
  const used = { type: "tool_result", toolUseId: "1", content: [] };
  const withTools = [
    { ...plain, tools },
    { ...plain, toolChoice: { mode: "none" } },
    { ...plain, messages: [message(text), { role: "assistant", content: use }] },
    { ...plain, messages: [message([used])] },
  ];
  test.for(withTools)("tools have to be declared, at 2025-11-25: %j", (params, { expect }) => {
    expect(sample(params, "2025-11-25")).toEqual(params);
    expect(sample(params, "2025-11-25", { sampling: {} })).toBe("sampling with tools");
    for (const revision of BEFORE_MODES) {
      expect(sample(params, revision)).toBe("sampling with tools");
    }
  });

  test("what tools put out is an object at 2025-11-25", ({ expect }) => {
    const asked = sample(
      {
        ...plain,
        tools: [{ ...tools[0], outputSchema: { type: "array" } }],
        messages: [
          message({ ...used, structuredContent: [1] }),
          message([
            { ...used, structuredContent: 1 },
            { ...used, structuredContent: { n: 1 } },
          ]),
          "no message",
        ],
      },
      "2025-11-25",
    );
    const wrapped = { type: "object", properties: { result: { type: "array" } } };
    expect(asked).toEqual({
      ...plain,
      tools: [{ ...tools[0], outputSchema: { ...wrapped, required: ["result"] } }],
      messages: [
        message({ ...used, structuredContent: { result: [1] } }),
        message([
          { ...used, structuredContent: { result: 1 } },
          { ...used, structuredContent: { n: 1 } },
        ]),
        "no message",
      ],
    });
  });

  const image = { type: "image", data: "aaaa", mimeType: "image/png" };
  const audio = { type: "audio", data: "aaaa", mimeType: "audio/wav" };

  test("a message of several parts becomes several messages", ({ expect }) => {
    const params = { ...plain, messages: [message([text, image]), message(image), message([])] };
    expect(sample(params, "2025-11-25")).toEqual(params);
    for (const revision of BEFORE_MODES) {
      expect(sample(params, revision)).toEqual({
        ...plain,
        messages: [message(text), message(image), message(image)],
      });
    }
  });

  test("sound needs 2025-03-26", ({ expect }) => {
    const params = { ...plain, messages: [message(audio)] };
    for (const revision of LEGACY_REVISIONS) {
      expect(sample(params, revision)).toEqual(
        revision === "2024-11-05" ? "sampling of such content" : params,
      );
    }
  });

  test.for([[message({ type: "video" })], [message("text")], ["no message"], "none", undefined])(
    "%j is nothing that an older client could be sent",
    (messages, { expect }) => {
      for (const revision of BEFORE_MODES) {
        expect(sample({ ...plain, messages }, revision)).toBe("sampling of such content");
      }
    },
  );

  test.for([
    { includeContext: "thisServer", revision: "2025-11-25", sampling: {}, isKept: false },
    { includeContext: "none", revision: "2025-11-25", sampling: {}, isKept: true },
    {
      includeContext: "allServers",
      revision: "2025-11-25",
      sampling: { context: {} },
      isKept: true,
    },
    { includeContext: "thisServer", revision: "2025-06-18", sampling: {}, isKept: true },
    { includeContext: "thisServer", revision: "2024-11-05", sampling: {}, isKept: true },
  ] as const)(
    "$includeContext, for $sampling at $revision, is kept: $isKept",
    ({ includeContext, revision, sampling, isKept }, { expect }) => {
      const asked = sample({ ...plain, includeContext }, revision, { sampling });
      expect(asked).toEqual(isKept ? { ...plain, includeContext } : plain);
    },
  );
});
