/** What a call came to that was parked when something went down, beside what it should have. */

import { expect } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { resultOf, type ParkingClient } from "./parking-client.ts";
import type { Plan } from "./parking-plan.ts";

interface Finding {
  readonly what: string;
  readonly is: unknown;
  readonly shouldBe: unknown;
}

export type Fault =
  | "the gateway was killed"
  | "the connection was cut"
  | "the server was killed"
  | "the server was killed and is back";

export function findingsOf(client: ParkingClient, fault: Fault): readonly Finding[] {
  const { plan, upstream, outcome, strange } = client;
  const about = `${fault}, ${JSON.stringify(plan)}`;
  return [
    { what: `calls at the server, ${about}`, is: upstream.posts, shouldBe: 1 },
    { what: `questions out of turn, ${about}`, is: strange, shouldBe: [] },
    { what: `answers at the server, ${about}`, is: faultsOf(client), shouldBe: [] },
    { what: `outcome, ${about}`, is: outcome, shouldBe: outcomeOf(plan, fault) },
  ];
}

/** The first answer to a question is the client's, and it is the only one. */
function faultsOf({ plan, upstream }: ParkingClient): readonly string[] {
  return upstream.answers
    .map(
      (answer, index) => [JSON.stringify(answer), `${plan.script.call} says ${index + 1}`] as const,
    )
    .filter(([answer, said]) => "result" in JSON.parse(answer) && !answer.includes(said))
    .map(([answer, said]) => `${answer} instead of ${said}`);
}

function outcomeOf(plan: Plan, fault: Fault): unknown {
  const result = { kind: "over", result: expect.objectContaining(resultOf(plan)) as unknown };
  const lost = { kind: "failed", error: lossOf(plan) };
  const broken = { kind: "broken" };
  const isGatewayDown = fault === "the gateway was killed";
  // It may be over before, or lost at a point where it is unknown what has arrived.
  if (plan.phase === "at any time") {
    return expect.toBeOneOf(isGatewayDown ? [result, lost, broken] : [result, lost]);
  }
  if (plan.phase === "before the first question" && isGatewayDown) {
    // Its client sees the connection break, and has nothing to come back with.
    return broken;
  }
  const isServerLost = fault.startsWith("the server");
  return plan.upstream === "resumable" && !isServerLost ? result : lost;
}

/** One clear error: it names the server, and says that the outcome is not known or to call again. */
function lossOf({ upstream }: Plan): Json {
  return expect.objectContaining({
    code: expect.toBeOneOf([-32_603, -32_602]) as unknown,
    message: expect.stringContaining(`"${upstream}"`) as unknown,
  }) as Json;
}
