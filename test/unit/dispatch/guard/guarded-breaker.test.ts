/** When the breaker holds requests back from a server, and how it finds out that the server is back. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { Breaker, type Pass } from "../../../../src/dispatch/guard/breaker.ts";

interface Scene {
  readonly breaker: Breaker;
  now: number;
  /** Lets a request through, or returns how long it has to wait. */
  readonly admit: () => Pass | number;
  /** A request that fails. */
  readonly fail: () => void;
}

function breakerOf(maxFailures = 3, pauseMs = 5000): Scene {
  const scene: Scene = {
    now: 1_000_000,
    breaker: new Breaker({ maxFailures, pauseMs, now: () => scene.now }),
    admit: () => {
      const admission = scene.breaker.admit();
      return admission.kind === "paused" ? admission.waitMs : admission.pass;
    },
    fail: () => void scene.breaker.failed(passOf(scene.admit())),
  };
  return scene;
}

function passOf(admitted: Pass | number): Pass {
  if (typeof admitted === "number") throw new Error(`to wait ${admitted} ms`);
  return admitted;
}

function opened(maxFailures = 3, pauseMs = 5000): Scene {
  const scene = breakerOf(maxFailures, pauseMs);
  for (let n = 0; n < maxFailures; n++) scene.fail();
  return scene;
}

describe("a breaker", () => {
  test("opens after a number of consecutive failures, and reports it once", ({ expect }) => {
    const { breaker, admit } = breakerOf(3);
    const passes = [1, 2, 3, 4].map(() => passOf(admit()));
    expect(passes.map((pass) => breaker.failed(pass))).toEqual([
      ...[undefined, undefined, "opened", undefined],
    ]);
    expect(admit()).toBe(5000);
  });

  test("counts anew after any answer", ({ expect }) => {
    const scene = breakerOf(3);
    for (let n = 0; n < 10; n++) {
      scene.fail();
      scene.fail();
      expect(scene.breaker.answered()).toBe(undefined);
    }
    expect(scene.admit()).toEqual({ isProbe: false });
  });

  test("lets exactly one through when the pause is over", ({ expect }) => {
    const scene = opened();
    scene.now += 4999;
    expect(scene.admit()).toBe(1);
    scene.now += 1;
    expect([scene.admit(), scene.admit(), scene.admit()]).toEqual([{ isProbe: true }, 5000, 5000]);
  });

  test("closes with the first answer, and reports it once", ({ expect }) => {
    const scene = opened();
    scene.now += 5000;
    scene.fail();
    scene.now += 10_000;
    passOf(scene.admit());
    expect([scene.breaker.answered(), scene.breaker.answered()]).toEqual(["closed", undefined]);
    expect(scene.admit()).toEqual({ isProbe: false });
    // It takes as many failures as before, and the pause is the first one again.
    scene.fail();
    scene.fail();
    expect(scene.admit()).toEqual({ isProbe: false });
    scene.fail();
    expect(scene.admit()).toBe(5000);
  });

  test("closes with an answer that was on its way before the pause", ({ expect }) => {
    const scene = breakerOf(1);
    passOf(scene.admit());
    scene.fail();
    expect(scene.breaker.answered()).toBe("closed");
  });

  test("doubles the pause with every probe that fails, up to a minute", ({ expect }) => {
    const scene = opened(1, 5000);
    const pauses: (Pass | number)[] = [];
    for (let n = 0; n < 6; n++) {
      const wait = scene.admit();
      pauses.push(wait);
      scene.now += typeof wait === "number" ? wait : 0;
      scene.fail();
    }
    expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  test("keeps to a first pause that is longer than a minute", ({ expect }) => {
    const scene = opened(1, 90_000);
    scene.now += 90_000;
    scene.fail();
    expect(scene.admit()).toBe(90_000);
  });

  test("is not affected by failures of requests that were on their way when it opened", ({
    expect,
  }) => {
    const scene = breakerOf(1);
    const [first, ...others] = [1, 2, 3, 4].map(() => passOf(scene.admit()));
    expect(scene.breaker.failed(first ?? { isProbe: false })).toBe("opened");
    for (const pass of others) expect(scene.breaker.failed(pass)).toBe(undefined);
    expect(scene.admit()).toBe(5000);
  });

  test("probes again at once when the probe was cancelled", ({ expect }) => {
    const scene = opened();
    scene.now += 5000;
    const probe = passOf(scene.admit());
    expect(scene.admit()).toBe(5000);
    scene.breaker.abandoned(probe);
    expect([scene.admit(), scene.admit()]).toEqual([{ isProbe: true }, 5000]);
  });

  test("is not affected by the cancellation of anything else", ({ expect }) => {
    const scene = breakerOf(1);
    const [early] = [passOf(scene.admit()), scene.fail()];
    scene.breaker.abandoned(early);
    expect(scene.admit()).toBe(5000);
    scene.now += 5000;
    scene.admit();
    scene.breaker.abandoned(early);
    expect(scene.admit()).toBe(5000);
  });

  test("sends another probe after one that takes minutes", ({ expect }) => {
    const scene = opened();
    scene.now += 5000;
    const slow = passOf(scene.admit());
    scene.now += 5000;
    expect(scene.admit()).toEqual({ isProbe: true });
    expect(scene.breaker.failed(slow)).toBe(undefined);
    expect(scene.admit()).toBe(5000);
  });
});

describe("a breaker, in any order of events", () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant("pass" as const), ms: fc.nat({ max: 20_000 }) }),
    fc.record({ kind: fc.constant("admit" as const) }),
    fc.record({
      kind: fc.constantFrom("answered" as const, "failed" as const, "abandoned" as const),
      which: fc.nat(),
    }),
  );

  test("lets no caller wait longer than a minute, and sends no two probes within a pause", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), (events) => {
        const scene = breakerOf(2);
        const passes: Pass[] = [];
        let probe: { readonly pass: Pass; readonly at: number } | undefined;
        for (const one of events) {
          if (one.kind === "pass") scene.now += one.ms;
          else if (one.kind === "admit") {
            const admitted = scene.admit();
            if (typeof admitted === "number") {
              expect(admitted).toBeLessThanOrEqual(60_000);
              continue;
            }
            if (admitted.isProbe && probe !== undefined) {
              expect(scene.now - probe.at).toBeGreaterThanOrEqual(5000);
            }
            if (admitted.isProbe) probe = { pass: admitted, at: scene.now };
            passes.push(admitted);
          } else {
            const [pass] = passes.splice(one.which % Math.max(1, passes.length), 1);
            if (pass === undefined) continue;
            if (one.kind === "failed") scene.breaker.failed(pass);
            else if (one.kind === "answered") scene.breaker.answered();
            else scene.breaker.abandoned(pass);
            // An end of its own makes room for the next.
            if (one.kind === "answered" || pass === probe?.pass) probe = undefined;
          }
        }
      }),
    );
  });
});
