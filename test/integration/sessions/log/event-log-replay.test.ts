/**
 * The property that everything rests on: whatever happens to a log, a resume from any event brings
 * exactly what followed in that stream, or is told that it cannot.
 */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, test, vi } from "vitest";

import type { LogLimits } from "../../../../src/sessions/log/stream-index.ts";
import { LogModel } from "./log-model.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Printed when a run fails, with the steps that it shrank to. */
const SEED = 20_261_121;
const ROW_CHARS = 512 * 1024;
const RETENTION_MS = 60_000;

/** Fits two rows, and would be cut in the middle of a character. */
const LARGE = `${"x".repeat(ROW_CHARS - 3)}${"𝄞".repeat(4)}`;
const TEXTS = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  { weight: 3, arbitrary: fc.constant("m".repeat(400)) },
);

interface Step {
  readonly name: string;
  readonly run: (model: LogModel) => void;
}

function named<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  run: (model: LogModel, input: T) => void,
): fc.Arbitrary<Step> {
  return arbitrary.map((input) => ({
    name: `${name} ${JSON.stringify(input).slice(0, 40)}`,
    run: (model) => run(model, input),
  }));
}

function steps(texts: fc.Arbitrary<string>): fc.Arbitrary<Step[]> {
  const index = fc.nat({ max: 9 });
  const append = fc.tuple(index, texts, fc.nat({ max: 5 }));
  const step = fc.oneof(
    { weight: 3, arbitrary: named("open a POST's", fc.constant(0), (m) => m.open("post")) },
    { weight: 2, arbitrary: named("open a GET's", fc.constant(0), (m) => m.open("standalone")) },
    {
      weight: 12,
      arbitrary: named("append", append, (m, [i, text, kind]) =>
        m.append(i, text, kind === 0, kind <= 3),
      ),
    },
    { weight: 2, arbitrary: named("flush", fc.constant(0), (m) => m.flush()) },
    { weight: 2, arbitrary: named("wait", texts, (m, text) => m.wait(text)) },
    { weight: 1, arbitrary: named("end", index, (m, i) => m.end(i)) },
    { weight: 2, arbitrary: named("connect", index, (m, i) => m.setInUse(i, true)) },
    { weight: 3, arbitrary: named("disconnect", index, (m, i) => m.setInUse(i, false)) },
    { weight: 3, arbitrary: named("evict", fc.constant(0), (m) => m.evict()) },
    { weight: 1, arbitrary: named("expire", fc.constant(0), (m) => m.expire()) },
    {
      weight: 3,
      arbitrary: named("pass", fc.nat({ max: RETENTION_MS }), (m, ms) => m.pass(ms)),
    },
    {
      // Numbers are used again after this: the ids of before must find nothing.
      weight: 2,
      arbitrary: named("be forgotten", index, (m, i) => {
        m.setInUse(i, false);
        m.pass(RETENTION_MS);
        m.expire();
        m.evict();
      }),
    },
    { weight: 3, arbitrary: named("check", fc.constant(0), (m) => m.check()) },
  );
  return fc.array(step, { minLength: 5, maxLength: 60 });
}

const WIDE: LogLimits = {
  keptEventsPerStream: 10_000,
  keptBytesPerStream: 100_000_000,
  keptBytesPerSession: 1_000_000_000,
  keptStreamsPerSession: 1000,
  retentionMinutes: RETENTION_MS / 60_000,
};

const CASES: readonly {
  name: string;
  limits: LogLimits;
  hasPressure: boolean;
  texts: fc.Arbitrary<string>;
  runs: number;
}[] = [
  {
    name: "there is room for everything",
    limits: WIDE,
    hasPressure: false,
    texts: TEXTS,
    runs: 400,
  },
  {
    name: "events are larger than a row",
    limits: { ...WIDE, keptBytesPerSession: 8 * ROW_CHARS },
    hasPressure: true,
    texts: fc.oneof({ weight: 1, arbitrary: TEXTS }, { weight: 2, arbitrary: fc.constant(LARGE) }),
    runs: 25,
  },
  {
    name: "streams may have few events",
    limits: { ...WIDE, keptEventsPerStream: 4 },
    hasPressure: true,
    texts: TEXTS,
    runs: 250,
  },
  {
    name: "streams may have few characters",
    limits: { ...WIDE, keptBytesPerStream: 900 },
    hasPressure: true,
    texts: TEXTS,
    runs: 250,
  },
  {
    name: "sessions may have few characters",
    limits: { ...WIDE, keptBytesPerSession: 1500 },
    hasPressure: true,
    texts: TEXTS,
    runs: 250,
  },
  {
    name: "sessions may have few streams",
    limits: { ...WIDE, keptStreamsPerSession: 3 },
    hasPressure: true,
    texts: TEXTS,
    runs: 250,
  },
];

describe("a resume delivers exactly the events that followed, or is refused, when", () => {
  test.for(CASES)("$name", async ({ limits, hasPressure, texts, runs }, { expect }) => {
    const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
    await runInDurableObject(object, (_instance, { storage }) => {
      const property = fc.property(steps(texts), (list) => {
        const model = new LogModel(storage.sql, limits, hasPressure);
        for (const { run } of list) run(model);
        model.check();
        model.evict();
        model.check();
      });
      expect(() => fc.assert(property, { seed: SEED, numRuns: runs })).not.toThrow();
    });
  });
});
