/** The alarm of an object, in the storage of a real one. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { AlarmClock } from "../../durable-objects/alarm-clock.ts";

const SOON = Date.now() + 3_600_000;
const LATER = SOON + 1000;

/** Begins a life, once it is known which alarm an earlier one has left. */
async function lifeOf(state: DurableObjectState): Promise<AlarmClock> {
  const clock = new AlarmClock(state);
  await state.blockConcurrencyWhile(() => Promise.resolve());
  return clock;
}

function withObject(act: (state: DurableObjectState) => Promise<void>): Promise<void> {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(stub, async (_instance, state) => {
    await state.storage.deleteAll();
    await act(state);
    await state.storage.deleteAll();
  });
}

describe("the alarm clock", () => {
  // What is written in another turn can be lost while what it is for is kept.
  test("sets the alarm in the turn that asks for it", async ({ expect }) => {
    await withObject(async (state) => {
      const clock = await lifeOf(state);
      clock.noLaterThan(LATER);
      const set = state.storage.getAlarm();
      clock.noLaterThan(SOON);
      expect(await set).toBe(LATER);
      expect(await state.storage.getAlarm()).toBe(SOON);
      expect(clock.firesBy(SOON)).toBe(true);
    });
  });

  test("leaves an earlier alarm, of its own life and of one before", async ({ expect }) => {
    await withObject(async (state) => {
      (await lifeOf(state)).noLaterThan(SOON);
      const next = await lifeOf(state);
      expect(next.firesBy(SOON)).toBe(true);
      next.noLaterThan(LATER);
      next.noLaterThan(undefined);
      expect(await state.storage.getAlarm()).toBe(SOON);
      next.fired();
      next.noLaterThan(LATER);
      expect(await state.storage.getAlarm()).toBe(LATER);
    });
  });

  test("goes back to the next alarm when one is withdrawn, or to none", async ({ expect }) => {
    await withObject(async (state) => {
      (await lifeOf(state)).noLaterThan(LATER);
      const clock = await lifeOf(state);
      clock.noLaterThan(SOON);
      clock.withdraw(LATER);
      expect(await state.storage.getAlarm()).toBe(SOON);
      clock.withdraw(SOON);
      expect(await state.storage.getAlarm()).toBe(LATER);
      clock.fired();
      clock.noLaterThan(SOON);
      clock.noLaterThan(LATER);
      clock.withdraw(SOON);
      expect(await state.storage.getAlarm()).toBe(LATER);
      clock.withdraw(LATER);
      expect(await state.storage.getAlarm()).toBe(null);
      clock.noLaterThan(LATER);
      expect(await state.storage.getAlarm()).toBe(LATER);
    });
  });

  test("keeps the earlier of two, where a constructor asks for one", async ({ expect }) => {
    await withObject(async (state) => {
      (await lifeOf(state)).noLaterThan(LATER);
      const earlier = new AlarmClock(state);
      earlier.noLaterThan(SOON);
      await state.blockConcurrencyWhile(() => Promise.resolve());
      expect(await state.storage.getAlarm()).toBe(SOON);
      const later = new AlarmClock(state);
      later.noLaterThan(LATER);
      await state.blockConcurrencyWhile(() => Promise.resolve());
      expect(await state.storage.getAlarm()).toBe(SOON);
    });
  });
});
