/** What a session with several servers costs: no more than one with one. */

import { beforeAll, describe, test } from "vitest";

import { type Costs, readCosts } from "../../src/observability/costs.ts";
import { Session } from "./client.ts";
import { responseIn } from "./event-reader.ts";
import { clientsOwn, MERGED, promised, resourceful } from "./merged-session.ts";
import { takeSeveral } from "./several-servers.ts";
import type { Upstream } from "./upstream.ts";

const NOTHING: Costs = {
  objectsConstructed: 0,
  objectRequests: 0,
  rowsRead: 0,
  rowsWritten: 0,
  alarmsSet: 0,
  outgoingRequests: 0,
  webSocketMessagesIn: 0,
  webSocketMessagesOut: 0,
};

let first: Upstream;
let second: Upstream;

beforeAll(async () => {
  const taken = await takeSeveral([
    { script: resourceful("first") },
    { script: resourceful("second") },
  ]);
  [first, second] = taken as [Upstream, Upstream];
});

async function costsOf(act: () => Promise<unknown>): Promise<Costs> {
  const before = readCosts();
  await act();
  const after = readCosts();
  const names = Object.keys(NOTHING) as (keyof Costs)[];
  const spent = names.map((name) => [name, after[name] - before[name]] as const);
  return { ...NOTHING, ...Object.fromEntries(spent) };
}

describe("a session with several servers", () => {
  test("asks one object and one server for each call, and writes nothing", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const call = async (): Promise<void> => {
      for (const { slug } of [first, second]) {
        expect(await responseIn(await session.callTool(`${slug}__work`))).toHaveProperty("result");
      }
    };
    await call();
    const costs = await costsOf(async () => {
      for (let n = 0; n < 5; n++) await call();
    });
    expect(costs).toEqual({ ...NOTHING, objectRequests: 10, outgoingRequests: 10 });
  });

  test("costs nothing while its client only listens", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    await responseIn(await session.callTool(`${first.slug}__work`));
    const { length: before } = await clientsOwn(first);
    const stream = await session.listen();
    await promised(session, first, second);
    // The session's own watch, and then that of whoever holds the client's stream.
    const handed = async (): Promise<number> => (await clientsOwn(first)).length - before;
    await expect.poll(handed, { timeout: 20_000 }).toBe(2);
    await stream.silence(); // whatever led to this is over
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) await stream.silence();
    };
    expect(await costsOf(idle)).toEqual(NOTHING);
    await stream.cancel();
  });
});
