/** What clients know of the servers that their people publish, and a last call, which has to come back. */

import type { Changing } from "../outside/changing.ts";
import type { Door } from "../outside/door.ts";
import { type Laptop, PUBLISHED } from "../outside/laptop.ts";
import type { Ledger } from "../outside/ledger.ts";
import { ModernClient } from "../outside/modern-client.ts";
import type { ServerFacts } from "../outside/server-facts.ts";
import { TOOL } from "../outside/tool.ts";
import type { World } from "../platform/world.ts";

const SLUG = `my-${PUBLISHED}`;
/** The endpoint of what a person publishes alone. */
export const OWN_PATH = `/mcp/${SLUG}`;
/** An isolate may not know yet that the person publishes anything. */
const KNOWN_MS = 30_000;
/** A laptop has dialled again by then, and the gateway listens. */
const BACK_MS = 60_000;
const CALL_MS = 120_000;

/** @param own what the client's person has. */
export function publishedFacts(
  usual: ServerFacts,
  own: {
    readonly laptops: readonly Laptop[];
    readonly files: Changing;
    /** The client uses the endpoint of the server alone. */
    readonly isAlone: boolean;
    /** Its person pauses it no more. */
    readonly isDone: () => boolean;
  },
): ServerFacts {
  const { laptops, files } = own;
  const { uris, tools } = files;
  const prefix = own.isAlone ? "" : `${SLUG}__`;
  return {
    ...usual,
    ...{ name: SLUG, prefix, isKept: false, uris, tools },
    ...{ comeAndGo: [`${prefix}${TOOL.name}`], announcesLists: true },
    mayBeUnknown: own.isAlone,
    isModern: laptops.some(({ habits }) => habits.era === "modern"),
    isReady: () =>
      laptops.some(({ world, welcomeAt = Infinity }) => world.scheduler.now - welcomeAt > KNOWN_MS),
    isDone: () => files.isDone && own.isDone(),
  };
}

/** Nothing breaks any more: what is published is back, and answers. */
export async function callOnce(parts: {
  readonly world: World;
  readonly ledger: Ledger;
  readonly door: Door;
  readonly server: ServerFacts;
}): Promise<void> {
  const { world, ledger } = parts;
  await world.run({ untilMs: world.elapsed + BACK_MS });
  const name = "client9";
  ledger.owners.of.set(name, "p0");
  const habits = { reconnectMs: 0, calls: 1, events: 0, isHasty: false };
  const client = new ModernClient(world, name, { era: "modern", ...habits }, parts);
  client.start();
  await world.run({ untilMs: world.elapsed + CALL_MS, isOver: () => client.isDone });
  const [end] = ledger.calls.get(`${name}.0`)?.ends ?? [];
  if (end !== "result") {
    const said = ledger.calls.get(`${name}.0`)?.error ?? "";
    ledger.find(`${SLUG} is not back: the last call ends in ${end ?? "nothing"} ${said}`);
  }
}
