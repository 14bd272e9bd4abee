/** The same as `asking`, by servers of other makes: server-everything and the demo. */

import { describe, vi } from "vitest";

import { ROOTS } from "../support/clients-answers.ts";
import { type Json, type Kind, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

/** An answer that is a promise is a task at work, so that the server has to come back for it. */
async function later(result: Json): Promise<Json> {
  return result;
}

const EVERYTHING: readonly (readonly [Kind, slug: string])[] = [
  ["v1-http", "everything"],
  ["v1-sse", "everything"],
  ["v2-legacy", "everything"],
  ["v1-http", "everything-sse"],
  ["v1-sse", "everything-sse"],
];

describe.concurrent.each(EVERYTHING)("a request of server-everything, %s at %s,", (kind, slug) => {
  const url = endpointFor(kind, slug);

  test("reaches the client's model", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    const result = await client.callTool("trigger-sampling-request", {
      prompt: "Say hello",
      maxTokens: 7,
    });
    expect(textOf(result)).toContain(
      "You said: Resource trigger-sampling-request context: Say hello",
    );
    expect(client.asked.find(({ method }) => method === "sampling/createMessage")).toMatchObject({
      params: { systemPrompt: "You are a helpful test server.", maxTokens: 7, temperature: 0.7 },
    });
  });

  test.for([
    ["accept", "✅ User provided the requested information!"],
    ["decline", "❌ User declined to provide the requested information."],
    ["cancel", "⚠️ User cancelled the elicitation dialog."],
  ] as const)("elicits with a form: %s", async ([action, text], { expect, connect }) => {
    const content = { name: "Ada", check: false, integer: 42 };
    const elicitation = (): Json => (action === "accept" ? { action, content } : { action });
    const client = await connect(kind, url, { answers: { elicitation } });
    const result = textOf(await client.callTool("trigger-elicitation-request"));
    expect(result).toContain(text);
    if (action === "accept") expect(result).toContain("- Name: Ada\n- Agreed to terms: false");
  });

  test.for([
    ["accept", "✅ User completed the URL elicitation flow."],
    ["decline", "❌ User declined to open the URL"],
    ["cancel", "⚠️ User cancelled the URL elicitation"],
  ] as const)("elicits with a URL: %s", async ([action, text], { expect, connect }) => {
    const client = await connect(kind, url, { answers: { elicitation: () => ({ action }) } });
    const page = { url: "https://example.com/pay", message: "Please pay", elicitationId: "e-1" };
    const result = await client.callTool("trigger-url-elicitation", page);
    expect(textOf(result)).toContain(text);
    expect(client.asked.find(({ method }) => method === "elicitation/create")).toMatchObject({
      params: { mode: "url", ...page },
    });
  });

  test("lists the roots, and lists them again after they have changed", async ({
    expect,
    connect,
  }) => {
    let roots = ROOTS;
    const tap = wiretap();
    const client = await connect(kind, url, { answers: { roots: () => roots }, fetch: tap.fetch });
    // It does not wait for the stream that carries its question, not even without a gateway.
    const opened = expect.objectContaining({ http: "GET", status: 200 });
    await vi.waitFor(() => expect(tap.noted).toContainEqual(opened), { timeout: 30_000 });
    expect(textOf(await client.callTool("get-roots-list"))).toContain("(2 total)");

    roots = [{ uri: "file:///elsewhere", name: "Elsewhere" }];
    await client.notify("notifications/roots/list_changed");
    await vi.waitFor(
      async () => {
        const text = textOf(await client.callTool("get-roots-list"));
        expect(text).toContain("(1 total):\n\n1. Elsewhere\n   URI: file:///elsewhere");
      },
      { timeout: 30_000 },
    );
  });

  test("is not sent to a client that has no capabilities", async ({ expect, connect }) => {
    const client = await connect(kind, url, { capabilities: {} });
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toContain("echo");
    expect(names.filter((name) => /elicitation|sampling|roots/.test(String(name)))).toEqual([]);
  });
});

describe.concurrent.each(["v1-http", "v1-sse"] as const)("server-everything, %s", (kind) => {
  test.for([
    ["trigger-sampling-request-async", "You said: Resource"],
    ["trigger-elicitation-request-async", "- Name: Ada"],
  ])(
    "sends a request as a task, and fetches its result later: %s",
    async ([tool, text], { expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, "everything"), {
        answers: {
          sampling: () =>
            later({
              model: "m",
              role: "assistant",
              content: { type: "text", text: "You said: Resource" },
            }),
          elicitation: () => later({ action: "accept", content: { name: "Ada" } }),
        },
      });
      const result = textOf(await client.callTool(tool ?? "", { prompt: "Say hello" }));
      expect(result).toContain("Poll 1: completed");
      expect(result).toContain(text);
    },
  );
});

describe.concurrent.each(KINDS)("the demo, %s,", (kind) => {
  test.for([
    [
      { action: "accept", content: { tea: "oolong", cups: 2, honey: true } },
      "Noted: 2 cups of Tieguanyin oolong with honey.",
    ],
    [{ action: "decline" }, "No hurry. The menu is at teahouse://menu, and the cushions are free."],
    [{ action: "cancel" }, "No hurry. The menu is at teahouse://menu, and the cushions are free."],
  ] as const)("asks the person which tea: %j", async ([order, text], { expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "demo"), {
      answers: { elicitation: () => order },
    });
    expect(textOf(await client.callTool("order_tea"))).toBe(text);
  });

  test("asks the client's model for a haiku", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "demo"));
    expect(textOf(await client.callTool("write_haiku", { about: "an edge" }))).toBe(
      "You said: Write a haiku about an edge.\n\n(brushed on the wall, signed parrot-1)",
    );
  });
});
