/** What a call came to at its client, beside what it should have come to. */

import { expect } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { type Caller, progressTokenOf } from "./killing-caller.ts";
import type { Plan } from "./killing-plan.ts";

export interface Finding {
  readonly what: string;
  readonly is: unknown;
  readonly shouldBe: unknown;
}

export function findingsOf({
  plan,
  upstream,
  messages,
  wasResumable,
}: Pick<Caller, "plan" | "upstream" | "messages" | "wasResumable">): readonly Finding[] {
  const about = JSON.stringify(plan);
  const once = { what: `calls at the upstream, ${about}`, is: upstream.posts, shouldBe: 1 };
  // Without an event id the client could not come back: it has lost the call, and that is all.
  if (!wasResumable) return [once];
  const last = messages.at(-1) ?? {};
  const sent = upstream.sent.map((message) => asTheClientSeesIt(message, plan, last["id"]));
  const canBeTakenUp = plan.upstream === "resumable" && plan.phase !== "before the answer begins";
  if (canBeTakenUp || "result" in last) {
    return [
      once,
      // What is missing or doubled is easier seen from the numbers than from the messages.
      { what: `order, ${about}`, is: messages.map(numberOf), shouldBe: sent.map(numberOf) },
      { what: `messages, ${about}`, is: messages, shouldBe: sent },
    ];
  }
  // No client has the messages that the upstream sent while the gateway was dead; one message reports that.
  const events = messages.slice(0, -1);
  const hasAllThatWasLogged = events.length >= loggedBeforeTheKill(plan);
  return [
    once,
    { what: `events, ${about}`, is: events, shouldBe: sent.slice(0, events.length) },
    { what: `has every logged event, ${about}`, is: hasAllThatWasLogged, shouldBe: true },
    { what: `last message, ${about}`, is: last, shouldBe: unknownResultOf(plan) },
  ];
}

/** An event is logged before it is sent: what a client has seen must be there. */
function loggedBeforeTheKill({ phase, script: { stopAfter, events } }: Plan): number {
  return phase === "at any time" ? 1 : Math.max(0, stopAfter ?? events);
}

function unknownResultOf({ script, upstream }: Plan): Json {
  const message = expect.stringMatching(new RegExp(`"${upstream}".*unknown`)) as unknown;
  const error = expect.objectContaining({ code: -32_603, message }) as unknown;
  return { jsonrpc: "2.0", id: script.call, error };
}

function numberOf({ params }: Json): unknown {
  const { progress, data } = (params ?? {}) as { progress?: number; data?: { number: number } };
  return progress ?? data?.number ?? "answer";
}

/** Ids and progress tokens are the gateway's own on the other hop. */
function asTheClientSeesIt(message: Json, plan: Plan, id: unknown): Json {
  if (message["method"] === undefined) return { ...message, id };
  const params = message["params"] as Json;
  if (!("progressToken" in params)) return message;
  return { ...message, params: { ...params, progressToken: progressTokenOf(plan) } };
}
