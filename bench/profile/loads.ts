/** What keeps the gateway busy while a row is profiled. */

import { goToSleep, openUpTo, startWatched } from "../rows/fan-out.ts";
import { openSession as openSubscriber, tell } from "../../scripts/measure-fan-out.mjs";
import { openLoad } from "../machinery/load.ts";
import { legacyCall, modernCall, openSession } from "../machinery/mcp.ts";
import { type Server, startHosting } from "../machinery/servers.ts";
import { type CallRow, WAYS } from "../rows/calls.ts";
import { eventWork } from "../rows/events.ts";
import { openMany } from "../rows/set-up.ts";

/** Some work of one row. */
export interface ProfiledLoad {
  readonly name: string;
  /** What the time is divided by. */
  readonly units: string;
  readonly start: () => Promise<Server>;
  /** Does what is not profiled, and warms up. */
  readonly prepare: (server: Server) => Promise<Work>;
}

interface Work {
  /** @returns how many units were done. */
  run(): Promise<number>;
  close(): void;
}

const CONNECTIONS = 16;
const WARM_UP_SECONDS = 1;
const SECONDS = 3;
const SLEEPERS = 1000;

/** @throws Error for a row that is no load. */
export function loadsOf(row: string): readonly ProfiledLoad[] {
  if (isCall(row)) return [callLoad(row)];
  switch (row) {
    case "events":
      return eventWork().map(({ name, start, warm, events, work }) => ({
        ...{ name, start, units: "events" },
        prepare: async ({ url }) => {
          const stream = await warm(url);
          return {
            run: () => repeated(() => work(url, stream).then(() => events)),
            close: nothing,
          };
        },
      }));
    case "set-up":
      return [setUpLoad];
    case "fan-out":
      return [wakingLoad];
    default:
      throw new Error(`${row} cannot be profiled: it puts no load on the gateway`);
  }
}

function callLoad(row: CallRow): ProfiledLoad {
  const { era, contenders } = WAYS[row];
  const [ours] = contenders;
  if (ours === undefined) throw new Error(`${row} has nobody to profile`);
  return {
    name: `${row}, ${CONNECTIONS} connections`,
    units: "requests",
    start: ours.start,
    async prepare({ url }) {
      const askings = [];
      for (let n = 0; n < CONNECTIONS; n++) {
        askings.push(era === "modern" ? modernCall() : legacyCall(await openSession(url)));
      }
      const load = openLoad(url, askings);
      await load.run(WARM_UP_SECONDS);
      return {
        run: async () => (await load.run(SECONDS))["answered"] ?? 0,
        close: () => load.close(),
      };
    },
  };
}

const setUpLoad: ProfiledLoad = {
  name: "set-up",
  units: "sessions",
  start: () => startHosting(),
  async prepare({ url }) {
    await openMany(url, WARM_UP_SECONDS);
    return { run: async () => (await openMany(url, SECONDS)).count, close: nothing };
  },
};

/** Each session's object is made anew. */
const wakingLoad: ProfiledLoad = {
  name: `fan-out, ${SLEEPERS} sessions, asleep`,
  units: "sessions",
  start: startWatched,
  async prepare({ url }) {
    const hangUp = new AbortController();
    const { origin } = new URL(url);
    const streams: Awaited<ReturnType<typeof openSubscriber>>[] = [];
    await openUpTo(SLEEPERS, streams, () => openSubscriber(origin, hangUp.signal));
    await tell(origin, streams);
    await goToSleep();
    return {
      run: async () => {
        await tell(origin, streams);
        return streams.length;
      },
      close: () => hangUp.abort(),
    };
  },
};

async function repeated(work: () => Promise<number>): Promise<number> {
  const until = performance.now() + SECONDS * 1000;
  let done = 0;
  while (performance.now() < until) done += await work();
  return done;
}

function nothing(): void {
  // There is nothing to close.
}

function isCall(row: string): row is CallRow {
  return row in WAYS;
}
