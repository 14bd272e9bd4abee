/** A session whose branch could not be reached says what it wants again, though its client sends nothing. */

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeAll, describe, test, vi } from "vitest";

import { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { changed, LISTS, MERGED, promised, takeTwo } from "../merged-session.ts";
import { evict, objectOf, storedIn } from "../session-object.ts";
import type { Upstream } from "../upstream.ts";

const DUE_MS = 30_000;

let first: Upstream;

beforeAll(async () => {
  [first] = await takeTwo();
});

async function isDueSoon(session: Session): Promise<true | undefined> {
  const { alarm } = await storedIn(session);
  return (alarm !== null && alarm <= Date.now() + DUE_MS) || undefined;
}

describe.each([
  ["lives on", false],
  ["dies meanwhile", true],
])("its holder %s", (_how, dies) => {
  test("as a client listened that sends nothing any more", async ({ expect }) => {
    const replaced = vi.spyOn(FanOutObject.prototype, "replace").mockImplementation(() => {
      throw new Error("It is being restarted");
    });
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await until(() => isDueSoon(session), "the alarm");
    if (dies) await evict(session);
    await runDurableObjectAlarm(await objectOf(session));
    await until(() => isDueSoon(session), "the alarm of the next renewal");
    replaced.mockRestore();
    if (dies) await evict(session);
    await runDurableObjectAlarm(await objectOf(session));
    for (const list of LISTS) expect(await stream.message()).toMatchObject(changed(list));
    await promised(session, first);
    await first.send(changed("tools"));
    expect(await stream.message()).toMatchObject(changed("tools"));
    // It has a stream, so nothing else is due soon.
    await runDurableObjectAlarm(await objectOf(session));
    expect(await isDueSoon(session)).toBeUndefined();
    await stream.cancel();
    await (await session.delete()).text();
  });
});
