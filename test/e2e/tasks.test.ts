/**
 * Tasks of 2025-11-25, which server-everything offers: a call becomes a task, which is asked
 * after, waited for, and asks in its turn. SDK 2 has no tasks, so only SDK 1 is here.
 */

import type { Client, Json, Kind } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";

const WAYS: readonly (readonly [name: string, kind: Kind, url: string])[] = [
  ["directly", "v1-http", sharedServers().everything],
  ["through the gateway", "v1-http", endpointFor("v1-http", "everything")],
  ["over HTTP+SSE before the gateway", "v1-sse", endpointFor("v1-sse", "everything")],
  ["over HTTP+SSE behind the gateway", "v1-http", endpointFor("v1-http", "everything-sse")],
];

async function start(client: Client, args: Json): Promise<string> {
  const { task } = await client.request("tools/call", {
    name: "simulate-research-query",
    arguments: args,
    task: { ttl: 60_000 },
  });
  return (task as { taskId: string }).taskId;
}

async function research(client: Client) {
  const taskId = await start(client, { topic: "python", ambiguous: true });
  const { status } = await client.request("tasks/get", { taskId });
  const { tasks } = await client.request("tasks/list");
  const isListed = (tasks as { taskId: string }[]).some((task) => task.taskId === taskId);
  // Waits for the end, and carries the task's question on the way.
  const result = await client.request("tasks/result", { taskId });
  const after = await client.request("tasks/get", { taskId });
  return { status, isListed, report: textOf(result), statusAfter: after["status"] };
}

test("a task runs, asks and ends in the same way over every route", async ({ expect, connect }) => {
  // It takes four seconds, so all go at once.
  const reports = await Promise.all(
    WAYS.map(async ([, kind, url]) => {
      const client = await connect(kind, url);
      const { status, ...report } = await research(client);
      const asked = client.asked.filter(({ method }) => method === "elicitation/create");
      // After two seconds it has a question.
      expect(status).toBeOneOf(["working", "input_required"]);
      return { ...report, questions: asked.map(({ params }) => params["message"]) };
    }),
  );
  const [direct, ...through] = reports;
  expect(direct).toMatchObject({ isListed: true, statusAfter: "completed" });
  expect(direct?.report).toContain("# Research Report: python (programming)");
  expect(direct?.questions).toHaveLength(1);
  for (const report of through) expect(report).toEqual(direct);
});

test.for(WAYS)("a task is cancelled: %s", async ([, kind, url], { expect, connect }) => {
  const client = await connect(kind, url);
  const taskId = await start(client, { topic: "tea" });
  expect(await client.request("tasks/cancel", { taskId })).toMatchObject({ status: "cancelled" });
  expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
  const unknown = await outcomeOf(client.request("tasks/get", { taskId: "0".repeat(32) }));
  expect(unknown).toMatchObject({ code: -32_602 });
});
