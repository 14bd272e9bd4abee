/** A task of one user is nothing to another, nor to another application of the same. */

// Has an isolate of its own: others have tasks at its servers.
import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction } from "../support/scripted-upstream-script.ts";
import { modern } from "../integration/client.ts";
import { type Message, responseIn } from "../integration/event-reader.ts";
import { jsonOf, Upstream } from "../integration/upstream.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const ALPHA = { mcp: `${ORIGIN}/mcp/alpha` };
const METHODS = ["tasks/get", "tasks/update", "tasks/cancel"] as const;
const SEED = { taskId: "of-whoever-knows-it", status: "working", ttlMs: null };

const lasting = (result: Json): readonly Reaction[] => [{ ...jsonOf({ result }), isLasting: true }];

let ann: Person;
let bob: Person;
let upstream: Upstream;

beforeAll(async () => {
  [ann, bob] = [await Person.signIn(), await Person.signIn()];
  upstream = Upstream.named("alpha");
  const complete = { resultType: "complete" };
  await upstream.script({
    server: "modern",
    reactions: {
      "tools/call": lasting({ resultType: "task", ...SEED }),
      "tasks/get": lasting({ ...complete, ...SEED }),
      "tasks/update": lasting(complete),
      "tasks/cancel": lasting(complete),
    },
  });
});

async function ask(token: string, method: string, params: Json): Promise<Message> {
  const capabilities = { extensions: { [TASKS]: {} } };
  return responseIn(await modern(ALPHA, method, params, { capabilities, headers: as(token) }));
}

async function begin(token: string): Promise<string> {
  const { result } = await ask(token, "tools/call", { name: "work", arguments: {} });
  return String(result?.["taskId"]);
}

async function saidOfTasks(): Promise<number> {
  const sent = await Promise.all(METHODS.map((method) => upstream.sent(method)));
  return sent.flat().length;
}

describe("a task of one user does not exist for", () => {
  test.for<[name: string, token: () => Promise<string>]>([
    ["another user", async () => (await bob.key()).token],
    ["another application of the same user", async () => (await ann.connect()).tokens.access_token],
    ["another key of the same user", async () => (await ann.key()).token],
  ])("%s, and no request reaches the upstream", async ([, token], { expect }) => {
    const mine = (await ann.key()).token;
    const theirs = await token();
    const [taskId, other] = [await begin(mine), await begin(theirs)];
    const before = await saidOfTasks();
    for (const method of METHODS) {
      const refusals = [
        await ask(theirs, method, { taskId, inputResponses: {} }),
        await ask(mine, method, { taskId: other, inputResponses: {} }),
        await ask(theirs, method, { taskId: SEED.taskId, inputResponses: {} }),
      ];
      for (const { error } of refusals) expect(error?.code).toBe(-32_602);
    }
    expect(await saidOfTasks()).toBe(before);
    for (const method of METHODS) {
      const { error } = await ask(mine, method, { taskId, inputResponses: {} });
      expect(error).toBeUndefined();
    }
    expect(await saidOfTasks()).toBe(before + METHODS.length);
  });
});
