/** A client that calls a scripted tool, loses its gateway at the planned moment, and comes back. */

import type { Json } from "../support/clients-face.ts";
import type { ScriptedCall } from "../support/scripted-call.ts";
import type { Plan } from "./killing-plan.ts";

export interface Caller {
  readonly plan: Plan;
  /** What the upstream knows of the call. */
  readonly upstream: ScriptedCall;
  /** Every message that the client has got, in order. */
  readonly messages: readonly Json[];
  /** Whether the client ever got something by which it could come back. */
  readonly wasResumable: boolean;
  /** Calls, and returns when the planned moment has come. */
  begin(origin: string): Promise<void>;
  /**
   * The gateway has been killed. Returns when the call is over, or the second moment has come.
   *
   * @param isUp resolves when there is a gateway again.
   */
  comeBack(isUp: Promise<void>): Promise<void>;
  /** The gateway is about to be killed again, while a replay that has just begun is under way. */
  rush(): Promise<void>;
  /** The gateway has been killed for the last time. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export function progressTokenOf({ script }: Plan): string {
  return `progress-${script.call}`;
}

export function endpointOf({ upstream }: Plan, origin: string): string {
  return `${origin}/mcp/${upstream}`;
}

export function paramsOf(plan: Plan): Json {
  const _meta = { progressToken: progressTokenOf(plan) };
  return { name: "stream", arguments: plan.script, _meta };
}

/** Whether the upstream has come to where its script has the gateway killed. */
export function hasCome({ script: { stopAfter } }: Plan, upstream: ScriptedCall): boolean {
  return stopAfter === undefined ? upstream.isOver : upstream.stoppedAfter === stopAfter;
}

/** How many messages the upstream has sent by then. */
export function sentBy({ script: { stopAfter, events } }: Plan): number {
  return stopAfter ?? events + 1;
}
