/** Features of the matrix: notifications of a server during a call, or at any time. */

import { vi } from "vitest";

import type { Client, Json } from "../support/clients-face.ts";
import type { Feature } from "./matrix.ts";
import { textOf } from "./outcome.ts";

const SOON = { timeout: 30_000, interval: 20 };
const WATCHED = "test://watched-resource";
const LONG_MS = 30_000;

/** Of one kind, in the order of arrival. */
function notificationsOf({ notifications }: Client, kind: string): readonly Json[] {
  return notifications
    .filter(({ method }) => method === `notifications/${kind}`)
    .map(({ params }) => params);
}

/** Makes the server notify until one more notification arrives: the notification stream may open late. */
async function provoke(client: Client, kind: string, tool: string): Promise<void> {
  const before = notificationsOf(client, kind).length;
  await vi.waitFor(async () => {
    await client.callTool(tool);
    if (notificationsOf(client, kind).length === before) throw new Error(`no ${kind} yet`);
  }, SOON);
}

function lineOf({ level, data }: Json): string {
  return `${String(level)}: ${String(data)}`;
}

async function cancelledCount(client: Client): Promise<number> {
  return Number(textOf(await client.callTool("test_cancelled_count")));
}

export const NOTIFICATIONS: readonly Feature[] = [
  {
    name: "progress",
    run: async (client) => {
      // What comes is looked at on the wire, where the token can be seen.
      await client.callTool("test_tool_with_progress", {}, { onprogress: () => undefined });
      const tokens = new Set(client.progress.map(({ progressToken }) => typeof progressToken));
      const reports = client.progress.map(({ progress, total }) => ({ progress, total }));
      return { tokens: [...tokens], reports };
    },
    outcome: () => ({
      tokens: ["number"],
      reports: [0, 50, 100].map((progress) => ({ progress, total: 100 })),
    }),
  },
  {
    name: "logs",
    run: async (client) => {
      await client.setLogLevel("info");
      await client.callTool("test_tool_with_logging");
      const atInfo = notificationsOf(client, "message").map(lineOf);
      await client.setLogLevel("warning");
      await client.callTool("test_tool_with_logging");
      return { atInfo, atWarning: notificationsOf(client, "message").length - atInfo.length };
    },
    outcome: () => ({
      atInfo: [
        "info: Tool execution started",
        "info: Tool processing data",
        "info: Tool execution completed",
      ],
      atWarning: 0,
    }),
  },
  {
    name: "updates of resources",
    run: async (client) => {
      const stop = await client.watch(WATCHED);
      await provoke(client, "resources/updated", "test_touch_watched");
      const uris = new Set(notificationsOf(client, "resources/updated").map(({ uri }) => uri));
      await stop();
      await client.watch();
      // The response to the end may overtake an update from before it. A change that is announced later does not.
      await provoke(client, "tools/list_changed", "test_trigger_tool_change");
      const earlier = notificationsOf(client, "resources/updated").length;
      await client.callTool("test_touch_watched");
      await provoke(client, "tools/list_changed", "test_trigger_tool_change");
      const after = notificationsOf(client, "resources/updated").length - earlier;
      return { uris: [...uris], afterTheEnd: after };
    },
    outcome: () => ({ uris: [WATCHED], afterTheEnd: 0 }),
  },
  {
    name: "changes of lists",
    run: async (client) => {
      await client.watch();
      await provoke(client, "tools/list_changed", "test_trigger_tool_change");
      const prompts = notificationsOf(client, "prompts/list_changed").length;
      await provoke(client, "prompts/list_changed", "test_trigger_prompt_change");
      return { promptsBefore: prompts };
    },
    outcome: () => ({ promptsBefore: 0 }),
  },
  {
    name: "cancellation",
    run: async (client, connectDirect) => {
      const direct = await connectDirect();
      const before = await cancelledCount(direct);
      const controller = new AbortController();
      const { signal } = controller;
      const name = crypto.randomUUID();
      const call = client.callTool("test_wait", { ms: LONG_MS, name }, { signal }).then(
        () => "answered",
        (error: unknown) => String(error),
      );
      await direct.callTool("test_wait_begun", { name });
      const early = (await cancelledCount(direct)) - before;
      controller.abort(new Error("no longer needed"));
      const outcome = await call;
      await vi.waitFor(async () => {
        if ((await cancelledCount(direct)) === before) throw new Error("still at work");
      }, SOON);
      return { early, isGivenUp: outcome.includes("no longer needed") };
    },
    outcome: () => ({ early: 0, isGivenUp: true }),
  },
];
