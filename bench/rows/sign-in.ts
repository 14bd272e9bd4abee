/**
 * What the check of a bearer token costs: the same calls with sign-in and without it. Nobody is held
 * back in either; an answer that says so would end the row.
 */

import { obtainToken } from "../../test/support/oauth-client.ts";
import { overHttp } from "../../test/support/oauth-over-http.ts";
import { OWNER_CODE } from "../../test/support/oauth-owner.ts";
import { naming, withServers } from "../machinery/field.ts";
import type { Asking } from "../machinery/load.ts";
import { type Field, loadInTurns } from "../machinery/load-in-turns.ts";
import { type Headers, modernCall } from "../machinery/mcp.ts";
import { startHosting } from "../machinery/servers.ts";
import { warmUp } from "../machinery/warm-up.ts";
import { CPU_REQUESTS, P50, P99, REQUESTS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";

const CONNECTIONS = 16;
const METRICS = [REQUESTS, CPU_REQUESTS, P50, P99];
const SIGNED_IN = "Edgeway with sign-in";

export function measureSignIn(plan: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: SIGNED_IN, start: () => startHosting({ AUTH_MODE: "oauth", OWNER_CODE }) },
    { name: "without sign-in", start: () => startHosting() },
  ];
  return withServers(contenders, async (servers) => {
    plan.say("sign-in");
    const fields: Field[] = [];
    for (const running of servers) {
      const { name, server } = running;
      const more = name === SIGNED_IN ? await naming(name, () => bearer(server.url)) : {};
      const askings = Array<Asking>(CONNECTIONS).fill(modernCall(more));
      await naming(name, () => warmUp(server.url, askings));
      fields.push({ running, askings });
    }
    const measured = await loadInTurns(fields, plan);
    const variant = `${CONNECTIONS} conn.`;
    return [{ row: "sign-in", variant, metrics: METRICS, measured, notes: [] }];
  });
}

/** Registers an application, and has the owner approve it. */
async function bearer(url: string): Promise<Headers> {
  const gateway = { origin: new URL(url).origin, send: overHttp };
  const { tokens } = await obtainToken(gateway, { code: OWNER_CODE, resource: url });
  return { Authorization: `Bearer ${tokens.access_token}` };
}
