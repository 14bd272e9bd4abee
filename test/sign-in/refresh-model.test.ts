/**
 * Whatever honest processes that share a token do, in whatever order, none of them is ever signed
 * out: they refresh at once, come late with a token that another one has refreshed since, and lose
 * answers on the way, and the object that has their grant sleeps in between.
 */

import * as fc from "fast-check";
import { test, vi } from "vitest";

import { tokensIn } from "../support/oauth-requests.ts";
import { ask, connect, type Connected, isGood, newClient, refreshing } from "./codes.ts";
import { passTime, SECOND } from "./clock.ts";
import { newOwner } from "./owners.ts";
import { restartShardOf } from "./restart-shard.ts";

type Step =
  /** So many refresh at once; each of them keeps its answer, or loses it. */
  | { readonly kind: "refresh"; readonly answers: readonly ("kept" | "lost")[] }
  /** A process that has not looked into the file for a moment writes its answer there, or loses it. */
  | { readonly kind: "late"; readonly answer: "kept" | "lost" }
  /** The object that has the grant sleeps, and the next call wakes it. */
  | { readonly kind: "restart" }
  | { readonly kind: "pass"; readonly seconds: number };

const answer = fc.constantFrom("kept" as const, "lost" as const);

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("refresh" as const),
      answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant("late" as const), answer }),
    fc.record({ kind: fc.constant("restart" as const) }),
    fc.record({
      kind: fc.constant("pass" as const),
      // All together less than the month after which an unused token expires.
      seconds: fc.constantFrom(1, 10, 29, 31, 3600, 86_400 * 2),
    }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** @throws Error when one of them is refused. @returns whether the last token is good. */
async function live(application: Connected, all: readonly Step[]): Promise<boolean> {
  let current = application.tokens;
  /** What was current a moment ago, and when it was replaced. */
  let before = { tokens: current, at: Date.now() };
  const refresh = async (token: string): Promise<typeof current> =>
    tokensIn(await ask(refreshing(application, token)));
  for (const step of all) {
    if (step.kind === "pass") {
      passTime(step.seconds * SECOND);
    } else if (step.kind === "restart") {
      await restartShardOf(application.person.id);
    } else if (step.kind === "late") {
      if (Date.now() - before.at >= 30 * SECOND) continue;
      const late = await refresh(before.tokens.refresh_token);
      if (step.answer === "kept") current = late;
    } else {
      const answers = await Promise.all(step.answers.map(() => refresh(current.refresh_token)));
      const kept = answers.filter((_, index) => step.answers[index] === "kept").at(-1);
      if (kept !== undefined) {
        before = { tokens: current, at: Date.now() };
        current = kept;
      }
    }
  }
  const { access_token } = await refresh(current.refresh_token);
  return isGood(access_token);
}

test("honest processes that share a token stay signed in", async ({ expect }) => {
  const { client_id: client } = await newClient();
  const person = await newOwner();
  await fc.assert(
    fc
      .asyncProperty(steps, async (all) => {
        expect(await live(await connect({ person, client }), all)).toBe(true);
      })
      .afterEach(() => vi.useRealTimers()),
    { numRuns: 40 },
  );
}, 180_000);
