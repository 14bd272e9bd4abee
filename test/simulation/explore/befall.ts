/** What a planned fault breaks, when its moment has come. */

import type { Actor } from "../outside/actor.ts";
import type { World } from "../platform/world.ts";
import { isHit } from "./moments.ts";
import { JUMPS } from "./faults.ts";
import type { Plan } from "./plan.ts";

/** @returns what broke, if there was anything of the kind. */
export function befall(
  { kind, where = "", after }: Plan["faults"][number] & { readonly after: string },
  world: World,
  outsiders: readonly Actor[],
): readonly string[] {
  const { random, network } = world;
  switch (kind) {
    case "cut-client":
    case "cut-inside": {
      const isClients = kind === "cut-client";
      const open = [...network.open].filter(
        ({ label }) => label.startsWith("client") === isClients,
      );
      if (open.length === 0) return [];
      const connection = random.pick(preferred(open, ({ label }) => isHit(label, where, after)));
      connection.cut();
      return [connection.label];
    }
    case "crash": {
      const lives = [...world.lives()];
      if (lives.length === 0) return [];
      const life = random.pick(preferred(lives, ({ name }) => name.includes(where)));
      life.die();
      return [life.name];
    }
    case "sleep": {
      const idle = [...world.lives()].filter(({ isIdle }) => isIdle);
      if (idle.length === 0) return [];
      const life = random.pick(preferred(idle, ({ name }) => name.includes(where)));
      life.slot.sleep();
      return [life.name];
    }
    case "isolate": {
      const alive = world.isolates.filter(({ isAlive }) => isAlive);
      if (alive.length === 0) return [];
      const isolate = random.pick(alive);
      const names = [...isolate.contexts].map(({ name }) => name);
      isolate.end();
      return [`isolate ${isolate.name}`, ...names];
    }
    case "clock": {
      const alive = world.isolates.filter(({ isAlive }) => isAlive);
      if (alive.length === 0) return [];
      const isolate = random.pick(alive);
      const ms = random.pick(JUMPS);
      world.jump(isolate, ms);
      return [`isolate ${isolate.name} is off by ${ms} ms`];
    }
    case "server": {
      const server = random.pick(outsiders);
      server.restart();
      return [server.name];
    }
  }
}

/** @returns those of the items, or all where there are none. */
function preferred<T>(items: readonly T[], isPreferred: (item: T) => boolean): readonly T[] {
  const some = items.filter(isPreferred);
  return some.length > 0 ? some : items;
}
