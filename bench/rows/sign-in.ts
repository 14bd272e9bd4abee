/**
 * What the check of a bearer token costs: the same calls with sign-in and without it. Nobody is held
 * back in either; an answer that says so would end the row.
 */

import { obtainToken } from "../../test/support/oauth-client.ts";
import { overHttp } from "../../test/support/oauth-over-http.ts";
import { OWNER_CODE } from "../../test/support/oauth-owner.ts";
import { type Participant, takeTurns } from "../turns.ts";
import { naming, withServers } from "../machinery/field.ts";
import { type Asking, type Load, openLoad } from "../machinery/load.ts";
import { type Headers, modernCall } from "../machinery/mcp.ts";
import { metered } from "../machinery/metered-load.ts";
import { startHosting } from "../machinery/servers.ts";
import { warmUp } from "../machinery/warm-up.ts";
import { CPU_REQUESTS, P50, P99, REQUESTS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";

const CONNECTIONS = 16;
const METRICS = [REQUESTS, CPU_REQUESTS, P50, P99];
const SIGNED_IN = "Edgeway with sign-in";

export function measureSignIn({ seconds, say, rounds }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: SIGNED_IN, start: () => startHosting({ AUTH_MODE: "oauth", OWNER_CODE }) },
    { name: "without sign-in", start: () => startHosting() },
  ];
  return withServers(contenders, async (running) => {
    say("sign-in");
    const loads: Load[] = [];
    try {
      const participants: Participant[] = [];
      for (const { name, server } of running) {
        const more = name === SIGNED_IN ? await naming(name, () => bearer(server.url)) : {};
        const askings = Array<Asking>(CONNECTIONS).fill(modernCall(more));
        await naming(name, () => warmUp(server.url, askings));
        const load = openLoad(server.url, askings);
        loads.push(load);
        await naming(name, () => load.run(seconds)); // it connects
        const meteredLoad = metered(load, server);
        participants.push({ name, sample: () => meteredLoad.run(seconds) });
      }
      const measured = await takeTurns(participants, { rounds, patienceSeconds: Infinity });
      const variant = `${CONNECTIONS} conn.`;
      return [{ row: "sign-in", variant, metrics: METRICS, measured, notes: [] }];
    } finally {
      for (const load of loads) load.close();
    }
  });
}

/** Registers an application, and has the owner approve it. */
async function bearer(url: string): Promise<Headers> {
  const gateway = { origin: new URL(url).origin, send: overHttp };
  const { tokens } = await obtainToken(gateway, { code: OWNER_CODE, resource: url });
  return { Authorization: `Bearer ${tokens.access_token}` };
}
