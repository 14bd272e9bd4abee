/**
 * A legacy client calls a tool that its modern server runs as a task alone, and the session's object is
 * lost while it polls: the call ends in one clear error, and nothing runs twice.
 */

import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { WAYS_TO_LOSE } from "../session-object.ts";
import { jsonOf, RESULT, Upstream } from "../upstream.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const ELICIT = {
  method: "elicitation/create",
  params: { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } },
};
const ACCEPTED = { action: "accept", content: {} };
const lasting = (reaction: Reaction): Reaction => ({ ...reaction, isLasting: true });

const refusal = jsonOf(
  {
    error: {
      ...{ code: -32_021, message: "Missing" },
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    },
  },
  400,
);
const ofTask = (more: Json): Reaction =>
  jsonOf({
    result: {
      resultType: "complete",
      taskId: "t",
      status: "working",
      pollIntervalMs: 100,
      ...more,
    },
  });
const asks = ofTask({ status: "input_required", inputRequests: { q: ELICIT } });

function take(end: Reaction): Promise<Upstream> {
  return Upstream.take({
    server: "modern",
    capabilities: { tools: {}, extensions: { [TASKS]: {} } },
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    reactions: {
      "tools/call": [refusal, ofTask({ resultType: "task" })],
      "tasks/get": [asks, asks, end],
      "tasks/update": [jsonOf({ result: {} })],
      "tasks/cancel": [jsonOf({ result: {} })],
    },
  });
}

/** Calls the tool, and answers what its task asks. @returns what comes after that. */
async function call(upstream: Upstream): Promise<{ session: Session; events: EventReader }> {
  const session = await Session.open(upstream.mcp, { capabilities: { elicitation: {} } });
  const events = new EventReader(await session.callTool("work", {}, "mine"));
  const question = await events.message();
  await session.answer(question.id, { result: ACCEPTED });
  await upstream.receives("tasks/get", 3);
  return { session, events };
}

test("a task's question and its end arrive on the stream of the call", async ({ expect }) => {
  const upstream = await take(ofTask({ status: "completed", result: RESULT }));
  const { events } = await call(upstream);
  expect(await events.message()).toMatchObject({ id: "mine", result: RESULT });
  expect(await events.next()).toBeUndefined();
  expect(await upstream.sent("tools/call")).toHaveLength(2);
  expect(await upstream.sent("tasks/update")).toHaveLength(1);
});

// One that waits for a server is not let go, but it can be lost.
const ABRUPT = WAYS_TO_LOSE.filter(({ isAbrupt }) => isAbrupt);

describe.for(ABRUPT)("a call whose object $name while it polls", ({ lose }) => {
  test("ends in one error, and is not made again", async ({ expect }) => {
    const upstream = await take(lasting(ofTask({})));
    const { session, events } = await call(upstream);
    await lose(session);
    expect(await events.message()).toMatchObject({
      id: "mine",
      error: {
        message: expect.stringContaining("when the gateway restarted; the result is unknown"),
      },
    });
    expect(await events.next()).toBeUndefined();
    expect(await upstream.sent("tools/call")).toHaveLength(2);
    expect(await upstream.sent("tasks/update")).toHaveLength(1);
  });
});
