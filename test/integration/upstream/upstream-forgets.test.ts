/**
 * The upstream forgets its session while nobody calls, and the client only listens: the gateway
 * finds out by itself, opens another session, and the client's stream goes on.
 */

import { describe, test } from "vitest";

import { PATIENCE_MS } from "../bounded.ts";
import { Session } from "../client.ts";
import { type EventReader, responseIn } from "../event-reader.ts";
import { evict } from "../session-object.ts";
import { sessionOf, Upstream } from "../upstream.ts";

function note(n: number): { method: string; params: { n: number } } {
  return { method: "notifications/n", params: { n } };
}

/** A client that listens, to an upstream session that is watched where its stream is held. */
async function listening(upstream: Upstream): Promise<readonly [Session, EventReader]> {
  const session = await Session.inUse(upstream.mcp);
  await responseIn(await session.request("logging/setLevel", { level: "debug" }));
  const stream = await session.listen();
  await stream.next();
  await upstream.receives("GET", 2);
  return [session, stream];
}

describe("an upstream that forgets its session while the client only listens", () => {
  test.for([
    { name: "and the session's object sleeps", isAsleep: true },
    { name: "and the session's object is awake", isAsleep: false },
  ])(
    "has its messages delivered on the same stream, from another session: $name",
    async ({ isAsleep }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const [session, stream] = await listening(upstream);
      if (isAsleep) await evict(session);
      await upstream.forget();
      await upstream.hangUp();
      await expect.poll(() => upstream.sessions(), { timeout: PATIENCE_MS }).toHaveLength(2);
      await upstream.receives("logging/setLevel", 2);
      await upstream.send(note(1));
      expect(await stream.message()).toMatchObject(note(1));
      // And once more, when the watch on the new session was handed over.
      const [, second] = await upstream.sessions();
      await expect
        .poll(
          async () =>
            (await upstream.sent("GET")).filter((sent) => sessionOf(sent) === second).length,
          { timeout: PATIENCE_MS },
        )
        .toBeGreaterThanOrEqual(2);
      await evict(session);
      await upstream.send(note(2));
      expect(await stream.message()).toMatchObject(note(2));
      await stream.silence();
      await stream.cancel();
      expect(await upstream.sessions()).toHaveLength(2);
    },
  );
});
