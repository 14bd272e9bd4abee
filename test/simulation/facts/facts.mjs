// @ts-nocheck -- as asking.mjs
/**
 * What the gateway relies on, as a Worker that asks its platform and says what it saw. It is the same text on the
 * simulated platform and in workerd (`facts.test.ts`).
 */

import unsafe from "workerd:unsafe";

import * as alarms from "./alarms.mjs";
import * as bodies from "./bodies.mjs";
import * as calls from "./calls.mjs";
import * as sockets from "./sockets.mjs";
import * as storing from "./storing.mjs";
import * as timers from "./timers.mjs";

export { Alarms } from "./alarms.mjs";
export { Bodies } from "./bodies.mjs";
export { Calls, Slow } from "./calls.mjs";
export { Sockets } from "./sockets.mjs";
export { Storing } from "./storing.mjs";
export { Timers } from "./timers.mjs";

const ROOMS = {
  CALLS: calls,
  STORING: storing,
  ALARMS: alarms,
  SOCKETS: sockets,
  BODIES: bodies,
  TIMERS: timers,
};

/** What the Worker does when it asks itself. */
const SELF = {};
for (const [name, work] of Object.entries(bodies.worker)) SELF[name] = ["BODIES", work];

async function ask(room, fact, env) {
  const again = () => env[room].getByName(fact);
  const evict = () => unsafe.evict(again(), { webSockets: "hibernate" });
  const value = await ROOMS[room].facts[fact](again(), {
    again,
    evict,
    env,
    self: env.SELF,
    name: fact,
  });
  return Response.json(value);
}

export default {
  fetch(request, env, ctx) {
    const [first = "", second] = new URL(request.url).pathname
      .slice(1)
      .split("/")
      .map(decodeURIComponent);
    if (first === "") {
      return Response.json(
        Object.entries(ROOMS).flatMap(([room, { facts }]) =>
          Object.keys(facts).map((fact) => [room, fact]),
        ),
      );
    }
    if (first in SELF) {
      const [room, work] = SELF[first];
      return work(env[room].getByName(second), { request, ctx });
    }
    return ask(first, second, env);
  },
};
