/**
 * The reference server of the legacy era, with a client of 2026-07-28 behind the gateway: what it
 * comes to is what SDK 1 comes to at the server itself. Over both transports of the server.
 */

import { describe, vi } from "vitest";

import type { Client, Connect, Json, Kind } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { withoutRepeats } from "./without-repeats.ts";
import { normalise } from "./parity.ts";

const SOON = { timeout: 30_000, interval: 20 };

interface Route {
  readonly slug: string;
  readonly direct: readonly [kind: Kind, url: string];
}

const ROUTES: readonly Route[] = [
  { slug: "everything", direct: ["v1-http", sharedServers().everything] },
  { slug: "everything-sse", direct: ["v1-sse", sharedServers().everythingSse] },
];

/** Neither can be asked as a task: those of the one era are not those of the other. */
const CAPABILITIES = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } };

type Script = (client: Client) => Promise<unknown>;

/** Asks for progress; what comes is looked at on the wire. */
function onprogress(): void {}

/** Runs a script with both clients, one after the other. @returns what each came to, alike if it is. */
async function both(
  connect: Connect,
  { slug, direct }: Route,
  script: Script,
  answers: Parameters<Connect>[2] = {},
): Promise<{ readonly expected: unknown; readonly actual: unknown }> {
  const options = { capabilities: CAPABILITIES, ...answers };
  const play = async (client: Client): Promise<unknown> => {
    const outcome = await script(client);
    // It asks for the roots by itself, soon after it was initialized, whatever is called.
    const asked = client.asked.filter(({ method }) => method !== "roots/list");
    return plain(normalise({ outcome, asked, errors: client.errors.map(String) }));
  };
  const expected = await play(withoutRepeats(await connect(...direct, options)));
  const actual = await play(await connect("v2-modern", endpointFor("v2-modern", slug), options));
  return { expected, actual };
}

const OF_ONE_ERA = new Set(["_meta", "mode", "elicitationId", "execution", "ttlMs", "cacheScope"]);

/** Without what belongs to one wire, or is one SDK's way to put it. */
function plain(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^(?:MCP error -?\d+: )+/, "");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OF_ONE_ERA.has(key))
      .map(([key, member]) => [key, plain(member)]),
  );
}

async function call(client: Client, name: string, args: Json = {}): Promise<Json> {
  return { name, ...(await outcomeOf(client.request("tools/call", { name, arguments: args }))) };
}

describe.each(ROUTES)("server-everything at $slug, for a modern client", (route) => {
  const url = endpointFor("v2-modern", route.slug);

  test("introduces itself as it does directly", async ({ expect, connect }) => {
    const { expected, actual } = await both(connect, route, async ({ server }) => {
      const { capabilities, info, instructions } = server;
      // Tasks of one era mean nothing in the other.
      const { tasks: _, ...rest } = capabilities as Json;
      return { capabilities: rest, info, instructions };
    });
    expect(actual).toEqual(expected);
  });

  test("lists the same, in the same order", async ({ expect, connect }) => {
    const { expected, actual } = await both(connect, route, async (client) => [
      await client.request("tools/list"),
      await client.request("resources/list"),
      await client.request("resources/templates/list"),
      await client.request("prompts/list"),
    ]);
    expect(actual).toEqual(expected);
  });

  test("answers every tool as it does directly", async ({ expect, connect }) => {
    const { expected, actual } = await both(connect, route, async (client) => [
      await call(client, "echo", { message: "Grüße, 世界 🍵" }),
      await call(client, "echo"),
      await call(client, "get-annotated-message", { messageType: "success", includeImage: true }),
      await call(client, "get-resource-links", { count: 4 }),
      await call(client, "get-resource-reference", { resourceType: "Blob", resourceId: 2 }),
      await call(client, "get-structured-content", { location: "Chicago" }),
      await call(client, "get-sum", { a: "one", b: 2 }),
      await call(client, "get-tiny-image"),
      await call(client, "no-such-tool"),
    ]);
    expect(actual).toEqual(expected);
  });

  test("serves resources, prompts and completions as it does directly", async ({
    expect,
    connect,
  }) => {
    const { expected, actual } = await both(connect, route, async (client) => {
      const outcomes: Json[] = [];
      const ask = async (method: string, params: Json): Promise<void> => {
        outcomes.push(await outcomeOf(client.request(method, params)));
      };
      await ask("resources/read", { uri: "demo://resource/dynamic/text/1" });
      await ask("resources/read", { uri: "demo://resource/dynamic/blob/2" });
      await ask("prompts/get", { name: "args-prompt", arguments: { city: "Kyoto" } });
      await ask("prompts/get", { name: "no-such-prompt" });
      await ask("completion/complete", {
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "S" },
      });
      return outcomes;
    });
    expect(actual).toEqual(expected);
  });

  test("samples the client's model", async ({ expect, connect }) => {
    const { expected, actual } = await both(connect, route, (client) =>
      call(client, "trigger-sampling-request", { prompt: "Say hello", maxTokens: 7 }),
    );
    expect(actual).toEqual(expected);
    expect(JSON.stringify(actual)).toContain("You said: Resource trigger-sampling-request");
  });

  test.for(["accept", "decline", "cancel"] as const)(
    "elicits with a form: %s",
    async (action, { expect, connect }) => {
      const content = { name: "Ada", check: false, integer: 42 };
      const elicitation = (): Json => (action === "accept" ? { action, content } : { action });
      const { expected, actual } = await both(
        connect,
        route,
        (client) => call(client, "trigger-elicitation-request"),
        { answers: { elicitation } },
      );
      expect(actual).toEqual(expected);
      expect(actual).toMatchObject({ asked: [{ method: "elicitation/create" }] });
    },
  );

  test.for(["accept", "decline", "cancel"] as const)(
    "elicits with a URL: %s",
    async (action, { expect, connect }) => {
      const page = { url: "https://example.com/pay", message: "Please pay", elicitationId: "e-1" };
      const { expected, actual } = await both(
        connect,
        route,
        (client) => call(client, "trigger-url-elicitation", page),
        { answers: { elicitation: () => ({ action }) } },
      );
      expect(actual).toEqual(expected);
      expect(actual).toMatchObject({ asked: [{ params: { url: page.url } }] });
    },
  );

  test("elicits with a URL first, where a legacy client would get an error", async ({
    expect,
    connect,
  }) => {
    const client = await connect("v2-modern", url, { capabilities: CAPABILITIES });
    const page = { url: "https://example.com/pay", message: "Please pay", errorPath: true };
    const result = await client.callTool("trigger-url-elicitation", page);
    expect(textOf(result)).toContain("✅ User completed the URL elicitation flow.");
    expect(client.asked.map(({ params }) => params["url"])).toEqual([
      "https://modelcontextprotocol.io",
      page.url,
    ]);
  });

  test("reports the progress of a long call", async ({ expect, connect }) => {
    const { expected, actual } = await both(connect, route, async (client) => {
      const steps = { duration: 0.4, steps: 4 };
      const result = await client.callTool("trigger-long-running-operation", steps, { onprogress });
      const reports = client.progress.map(({ progress, total }) => [progress, total]);
      return { text: textOf(result), reports };
    });
    expect(actual).toEqual(expected);
    expect(actual).toMatchObject({ outcome: { reports: [1, 2, 3, 4].map((step) => [step, 4]) } });
  });

  test("notifies of subscribed resources, and of no others", async ({ expect, connect }) => {
    const watched = "demo://resource/dynamic/text/1";
    const { expected, actual } = await both(connect, route, async (client) => {
      await client.watch(watched);
      const updates = (): readonly unknown[] =>
        client.notifications
          .filter(({ method }) => method === "notifications/resources/updated")
          .map(({ params }) => params["uri"]);
      // It sends one round at once, to the session that asks for it.
      await vi.waitFor(async () => {
        await client.callTool("toggle-subscriber-updates");
        await client.callTool("toggle-subscriber-updates");
        expect(updates()).not.toEqual([]);
      }, SOON);
      return [...new Set(updates())];
    });
    expect(actual).toEqual(expected);
    expect(actual).toMatchObject({ outcome: [watched] });
  });

  test("runs a tool that requires a task as a task, and the result is a plain one", async ({
    expect,
    connect,
  }) => {
    const client = await connect("v2-modern", url, { capabilities: CAPABILITIES });
    const result = await client.callTool("simulate-research-query", { topic: "tea" });
    expect(result["isError"]).toBeUndefined();
    expect(textOf(result)).toContain("# Research Report: tea");
  });
});

test("a request of the server outside a call blocks no call", async ({ expect, connect }) => {
  const client = await connect("v2-modern", endpointFor("v2-modern", "everything"), {
    capabilities: CAPABILITIES,
  });
  // It asks for the roots on the stream of its session, and not on that of the call. The gateway
  // may know whose question that is, or refuse it; the tool comes to an end in both cases.
  const text = textOf(await client.callTool("get-roots-list"));
  // Clients of the same capabilities share a session there, whose roots another one may have told.
  const isAsked = client.asked.length > 0;
  expect(text).toMatch(isAsked ? /\(2 total\)/ : /\(2 total\)|no roots are currently configured/);
});
