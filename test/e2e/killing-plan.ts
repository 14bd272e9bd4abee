/**
 * The moments at which the gateway is killed: drawn from a seed, so that each is another one and
 * every one comes again. What is drawn is where the upstream stops, and what the client has of it.
 */

import { BEFORE_THE_ANSWER, type Script } from "../support/scripted-call.ts";
import { seeded, type Seeded } from "../support/seeded.ts";

type Phase =
  | "before the answer begins"
  | "before the first event"
  | "between events"
  | "before the final frame"
  | "after the final frame"
  | "at any time";

/** What the client does after the first kill, until the second one. */
type Replay =
  /** It comes in time, and crashes again after so many messages of those it sees. */
  | { readonly kind: "read"; readonly takes: number; readonly sees: number }
  /** The gateway is killed so long after the replay has begun. */
  | { readonly kind: "rushed"; readonly ms: number };

export interface Plan {
  readonly phase: Phase;
  readonly client: "raw" | "sdk" | "sdk followed by another";
  /** Whether the upstream has event ids by which its own stream can be taken up. */
  readonly upstream: "resumable" | "forgetful";
  readonly script: Script;
  /** How many messages the client makes its own before the first kill. */
  readonly takes: number;
  /** Killed again while the client reads what it has missed. */
  readonly replay: Replay | undefined;
  /** When the upstream goes on, if it has stopped. */
  readonly goesOn: "while the gateway is dead" | "once the client is back";
}

type Role = Pick<Plan, "phase" | "client" | "upstream"> & { readonly again?: Replay["kind"] };

export function plansOf(seed: number): readonly Plan[] {
  const dice = seeded(seed);
  return rolesOf(dice).map((role, index) => planOf(role, `${seed}-${index}`, dice));
}

/** How long calls that do not stop are left to run before the first kill. */
export function runUpOf(seed: number): number {
  return seeded(-seed).int(10, 200);
}

function rolesOf(dice: Seeded): readonly Role[] {
  const resumable = { client: "raw", upstream: "resumable" } as const;
  const forgetful = { client: "raw", upstream: "forgetful" } as const;
  const { pick } = dice;
  return [
    { ...resumable, phase: "before the first event" },
    { ...resumable, phase: "between events", again: "read" },
    { ...resumable, phase: "between events", again: "rushed" },
    { ...resumable, phase: "before the final frame", again: "read" },
    { ...resumable, phase: "after the final frame", again: "read" },
    { ...resumable, phase: "at any time" },
    { ...resumable, phase: "at any time", again: "rushed" },
    {
      ...{ client: "sdk", upstream: "resumable" },
      phase: pick(["before the first event", "between events", "before the final frame"]),
    },
    {
      ...{ client: "sdk followed by another", upstream: "resumable" },
      phase: pick(["between events", "before the final frame", "after the final frame"]),
    },
    { ...forgetful, phase: "before the first event" },
    { ...forgetful, phase: "between events", again: "read" },
    { ...forgetful, phase: pick(["before the final frame", "after the final frame"]) },
    { ...forgetful, phase: "at any time" },
    {
      ...pick<typeof resumable | typeof forgetful>([resumable, forgetful]),
      phase: "before the answer begins",
    },
  ];
}

function planOf({ again, ...role }: Role, call: string, { int, pick }: Seeded): Plan {
  const isFlowing = role.phase === "at any time";
  const isRushed = again === "rushed";
  // What flows is to outlast a restart of the gateway, and a replay is to take its time.
  const events = isFlowing ? int(60, 90) * (isRushed ? 6 : 1) : isRushed ? int(60, 90) : int(4, 12);
  const stopAfter = {
    "before the answer begins": BEFORE_THE_ANSWER,
    "before the first event": 0,
    "between events": int(isRushed ? Math.ceil(events / 2) : 2, events - 1),
    "before the final frame": events,
    "after the final frame": undefined,
    "at any time": undefined,
  }[role.phase];
  /** How many messages there are at the time of the first kill. */
  const there = Math.max(0, stopAfter ?? events + 1);
  // A client that has everything would not come back for more.
  const takes = isFlowing ? Infinity : int(0, isRushed ? 3 : Math.max(0, there - 1));
  const sees = int(1, Math.max(1, there - takes));
  const replays = {
    read: { kind: "read", sees, takes: int(0, sees) },
    rushed: { kind: "rushed", ms: int(0, 15) },
  } as const;
  return {
    ...{ ...role, takes },
    script: {
      ...{ call, events, intervalMs: isFlowing ? int(3, 12) : int(0, 3) },
      bytes: isRushed && !isFlowing ? int(8_000, 32_000) : int(50, 2000),
      ...(stopAfter === undefined ? {} : { stopAfter }),
    },
    replay: again === undefined ? undefined : replays[again],
    goesOn: pick(["while the gateway is dead", "once the client is back"]),
  };
}
