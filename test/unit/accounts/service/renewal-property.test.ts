/**
 * The renewal of tokens against an authorization server that rotates refresh tokens and revokes a family when one
 * comes again, with lost answers, failures, refusals and lives of the object that end at any moment.
 */

import * as fc from "fast-check";
import { test } from "vitest";

import type { RenewalAnswer } from "../../../../src/accounts/service/token-renewal.ts";
import type { Credential } from "../../../../src/upstream/credentials.ts";
import { withSql } from "../../lib/sql-fixture.ts";
import { connect, life, play } from "./vault-fixture.ts";

const LIFE_MS = 600_000;

/** What becomes of the next request for a token. */
type Fate = "answered" | "lost" | "never arrives" | "busy" | "killed before" | "killed after";

type Step =
  | { readonly kind: "call"; readonly times: number; readonly fate: Fate }
  /** The server ends the access token early. */
  | { readonly kind: "end" }
  | { readonly kind: "wait"; readonly ms: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("call" as const),
      times: fc.integer({ min: 1, max: 4 }),
      fate: fc.constantFrom<Fate>(
        ...(["answered", "answered", "lost", "never arrives"] as const),
        ...(["busy", "killed before", "killed after"] as const),
      ),
    }),
    fc.record({ kind: fc.constant("end" as const) }),
    fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1000, 31_000, 300_000, LIFE_MS - 55_000, LIFE_MS),
    }),
  ),
  { maxLength: 40 },
);

/** The answer of an early refresh is lost while the access token is of use. */
const LOST_EARLY: readonly Step[] = [
  { kind: "wait", ms: LIFE_MS - 55_000 },
  { kind: "call", times: 3, fate: "lost" },
  { kind: "wait", ms: 31_000 },
  { kind: "call", times: 3, fate: "answered" },
];

/** Rotates: the newest refresh token works, an older one ends all of them. */
class Rotating {
  newest = 0;
  isRevoked = false;
  /** The access tokens that the server honours, with their end. */
  readonly honoured = new Map<string, number>([["access-0", Infinity]]);

  take(refreshToken: string | undefined, now: number): RenewalAnswer {
    if (this.isRevoked || refreshToken !== `refresh-${this.newest}`) {
      this.isRevoked = true;
      this.honoured.clear();
      return { kind: "denied", trouble: "ended" };
    }
    this.newest += 1;
    const [accessToken, next] = [`access-${this.newest}`, `refresh-${this.newest}`];
    this.honoured.set(accessToken, now + LIFE_MS);
    return { kind: "tokens", tokens: { accessToken, refreshToken: next, expiresInMs: LIFE_MS } };
  }

  honours(credential: Credential, now: number): boolean {
    if (credential.kind !== "use") return false;
    return (this.honoured.get(credential.value.replace("Bearer ", "")) ?? 0) > now;
  }
}

test("U45 U46 no refresh token that is honoured is lost, one request runs at a time, and no family is revoked while a token of it is of use", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(steps, (script) =>
      withSql(async (fixture) => {
        const { clock } = fixture;
        const server = new Rotating();
        let fate: Fate = "answered";
        let running = 0;
        let requests = 0;
        // What is thrown in a request counts as a request without an answer.
        const faults: string[] = [];
        const played = play({
          first: { accessToken: "access-0", refreshToken: "refresh-0", expiresInMs: LIFE_MS },
        });
        server.honoured.set("access-0", clock.now + LIFE_MS);
        const never = new Promise<RenewalAnswer>(() => undefined);
        played.renew = async (_, _account, { accessToken = "", refreshToken }) => {
          running += 1;
          if (running > 1) faults.push("two requests at a time");
          requests += 1;
          const isOfUse = (server.honoured.get(accessToken) ?? 0) > clock.now;
          if (fate === "killed before") return never;
          running -= 1;
          if (fate === "busy") return { kind: "not-processed" };
          if (fate === "never arrives") return { kind: "unanswered" };
          const wasRevoked = server.isRevoked;
          const answer = server.take(refreshToken, clock.now);
          // A refresh token that comes again may end nothing that could still be used.
          if (server.isRevoked && !wasRevoked && isOfUse) faults.push("a family was revoked");
          if (fate === "lost") return { kind: "unanswered" };
          if (fate === "killed after") return never;
          return answer;
        };
        let vault = life(fixture, { played });
        await connect(vault);
        for (const step of script) {
          if (step.kind === "wait") clock.now += step.ms;
          else if (step.kind === "end") server.honoured.clear();
          else {
            fate = step.fate;
            const calls = Array.from({ length: step.times }, async () => {
              const current = await vault.credential({ slug: "s" });
              if (current.kind !== "use" || server.honours(current, clock.now)) return current;
              return vault.credential({ slug: "s", refused: current });
            });
            const all = Promise.all(calls);
            const isKilled = fate === "killed before" || fate === "killed after";
            // oxlint-disable-next-line no-await-in-loop -- steps follow one another
            if (isKilled) await Promise.race([all, settled(() => requests)]);
            // oxlint-disable-next-line no-await-in-loop -- steps follow one another
            else await all;
            if (isKilled) {
              running = 0;
              vault = life(fixture, { played });
            }
          }
          // oxlint-disable-next-line no-await-in-loop -- steps follow one another
          const [account] = await vault.accounts();
          // Only what the authorization server has ended is given up.
          if (account?.trouble === "ended" || account?.trouble === "refresh-lost") {
            expect(server.isRevoked).toBe(true);
          }
          expect(faults).toEqual([]);
        }
      }),
    ),
    { numRuns: 75, examples: [[LOST_EARLY]] },
  );
});

/** Resolves when a request was sent, or when nothing was to be sent: after some turns without a change. */
async function settled(count: () => number): Promise<void> {
  const before = count();
  for (let turn = 0; turn < 50 && count() === before; turn += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
