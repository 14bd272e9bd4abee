/** The name of the server in its requests to a client: what is added, and what stays as it was. */

import { describe, test } from "vitest";

import {
  attributedQuestion,
  attributedElicitations,
  attributedInputRequests,
} from "../../../src/endpoint/attribution.ts";

const META = { "edgeway/server": "docs" };

describe("a question", () => {
  test("with a form names its server in its message", ({ expect }) => {
    const params = { message: "Your name?", requestedSchema: { type: "object" } };
    expect(attributedQuestion({ method: "elicitation/create", params }, "docs")).toEqual({
      method: "elicitation/create",
      params: { message: "[docs] Your name?", requestedSchema: { type: "object" }, _meta: META },
    });
  });

  test("with a URL names its server too, and the URL stays", ({ expect }) => {
    const params = { mode: "url", url: "https://a/?b", elicitationId: "1", message: "Sign in" };
    expect(attributedQuestion({ method: "elicitation/create", params }, "docs").params).toEqual({
      ...{ ...params, message: "[docs] Sign in", _meta: META },
    });
  });

  test("to a model leaves every word of the prompt", ({ expect }) => {
    const params = {
      ...{ messages: [{ role: "user", content: { type: "text", text: "Say it" } }] },
      ...{ systemPrompt: "Be kind", maxTokens: 9, message: "mine" },
    };
    expect(attributedQuestion({ method: "sampling/createMessage", params }, "docs").params).toEqual(
      {
        ...{ ...params, _meta: META },
      },
    );
  });

  test("without params gets them", ({ expect }) => {
    expect(attributedQuestion({ method: "roots/list" }, "docs")).toEqual({
      ...{ method: "roots/list", params: { _meta: META } },
    });
  });

  test("keeps its _meta, except the name that it claims", ({ expect }) => {
    const params = { _meta: { progressToken: 1, "edgeway/server": "bank" } };
    expect(attributedQuestion({ method: "roots/list", params }, "docs").params).toEqual({
      _meta: { progressToken: 1, ...META },
    });
  });

  test("with a message that is no text is left to the client to judge", ({ expect }) => {
    const params = { message: ["x"] };
    const named = attributedQuestion({ method: "elicitation/create", params }, "docs");
    expect(named.params).toEqual({ message: ["x"], _meta: META });
  });
});

describe("the input requests in a result", () => {
  test("are named one by one", ({ expect }) => {
    const result = {
      resultType: "input_required",
      inputRequests: {
        a: { method: "elicitation/create", params: { message: "A?" } },
        b: { method: "roots/list" },
      },
      requestState: "s",
    };
    expect(attributedInputRequests(result, "docs")).toEqual({
      ...result,
      inputRequests: {
        a: { method: "elicitation/create", params: { message: "[docs] A?", _meta: META } },
        b: { method: "roots/list", params: { _meta: META } },
      },
    });
  });

  test.for([
    { content: [] },
    { resultType: "input_required", requestState: "s" },
    { inputRequests: ["x"] },
    { inputRequests: { a: 1, b: { method: 2 }, c: { method: "roots/list", params: [] } } },
  ])("that are none stay as they are: %j", (result, { expect }) => {
    expect(attributedInputRequests(result, "docs")).toEqual(result);
  });
});

describe("an error that asks for URL elicitations", () => {
  test("names the server in each", ({ expect }) => {
    const data = { elicitations: [{ mode: "url", url: "https://a", message: "A" }, 1], more: 2 };
    const error = { code: -32042, message: "Go there", data };
    expect(attributedElicitations(error, "docs")).toEqual({
      ...error,
      data: {
        ...{ elicitations: [{ mode: "url", url: "https://a", message: "[docs] A" }, 1], more: 2 },
      },
    });
  });

  test.for([undefined, null, 1, {}, { elicitations: {} }])(
    "without elicitations stays as it is: %j",
    (data, { expect }) => {
      const error = { code: -32042, message: "Go there", data };
      expect(attributedElicitations(error, "docs")).toEqual(error);
    },
  );
});
