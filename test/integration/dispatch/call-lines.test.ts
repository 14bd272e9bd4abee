/** What the gateway answers itself, or only begins, has its line in the log as any call has. */

import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { tryJson } from "../../../src/lib/try-json.ts";
import { isObject } from "../../../src/protocol/json-rpc.ts";
import { until } from "../bounded.ts";
import { modern, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { resourceful } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

let first: Upstream;

beforeAll(async () => {
  const taken = await takeSeveral([
    { script: resourceful("first", { server: "dual" }) },
    { script: resourceful("second", { server: "dual" }) },
  ]);
  [first] = taken as [Upstream, Upstream];
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines of a method's calls, from now on. */
function linesOf(method: string): () => Promise<unknown> {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const find = async (): Promise<unknown> => {
    const lines = spy.mock.calls.map(([line]: readonly unknown[]) => tryJson(String(line)));
    const own = lines.filter(isObject).filter((line) => line["method"] === method);
    return Promise.resolve(own.length === 0 ? undefined : own);
  };
  return () => until(find, `the line of ${method}`);
}

describe("one log line is written", () => {
  test("for a listener, once it is acknowledged", async ({ expect }) => {
    const lines = linesOf("subscriptions/listen");
    const notifications = { toolsListChanged: true };
    const response = await modern({ mcp: "/mcp" }, "subscriptions/listen", { notifications });
    expect(await lines()).toMatchObject([{ server: "*", outcome: "ok" }]);
    await response.body?.cancel();
  });

  test("for a listener that is refused", async ({ expect }) => {
    const lines = linesOf("subscriptions/listen");
    const notifications = { toolsListChanged: true, taskIds: ["a"] };
    // To listen to tasks takes a client that declares them (tasks, notifications: MUST).
    await responseIn(await modern({ mcp: "/mcp" }, "subscriptions/listen", { notifications }));
    expect(await lines()).toMatchObject([{ server: "*", outcome: "error:-32021" }]);
  });

  test("for the introduction of several servers", async ({ expect }) => {
    const lines = linesOf("server/discover");
    await responseIn(await modern({ mcp: "/mcp" }, "server/discover", {}));
    expect(await lines()).toMatchObject([{ server: "*", outcome: "ok" }]);
  });

  test.for([
    { method: "prompts/get", of: "a server", params: () => ({ name: `${first.slug}__p` }) },
    { method: "resources/read", of: "its owner", params: () => ({ uri: "file:///first/1" }) },
    { method: "resources/read", of: "whoever may have it", params: () => ({ uri: "x:unlisted" }) },
  ])("for a state that nobody was given: $method of $of", async (call, { expect }) => {
    const { method, params } = call;
    const lines = linesOf(method);
    const sent = { ...params(), requestState: "invented" };
    const { error } = await responseIn(await modern({ mcp: "/mcp" }, method, sent));
    expect(error?.message).toContain("requestState was not given to this client");
    const name = "name" in sent ? { name: sent.name } : {};
    expect(await lines()).toMatchObject([{ server: "*", outcome: "error:-32602", ...name }]);
  });

  test.for([
    { method: "resources/subscribe", params: { uri: "file:///first/1" }, isOwn: true },
    { method: "resources/unsubscribe", params: { uri: "file:///first/1" }, isOwn: false },
    { method: "logging/setLevel", params: { level: "warning" }, isOwn: false },
  ])("of $method in a session", async ({ method, params, isOwn }, { expect }) => {
    const session = await Session.open("/mcp");
    const lines = linesOf(method);
    await responseIn(await session.request(method, params));
    expect(await lines()).toMatchObject([{ server: isOwn ? first.slug : "*" }]);
  });
});
