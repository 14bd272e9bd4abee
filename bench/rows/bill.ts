/**
 * The bill: what the platform charges for, counted while some of each is done, one after the other,
 * and priced. Ours by the gateway's own report, `McpAgent` by one with the same names.
 */

import { openListener, openSession } from "../../scripts/measure-fan-out.mjs";
import { readCosts } from "../../test/support/costs.ts";
import { obtainToken } from "../../test/support/oauth-client.ts";
import { overHttp } from "../../test/support/oauth-over-http.ts";
import { OWNER_CODE } from "../../test/support/oauth-owner.ts";
import { requestToken, tokensIn } from "../../test/support/oauth-requests.ts";
import { dollarsPerMillion, operationsOf } from "../bill.ts";
import { pricesInWords } from "../prices.ts";
import type { Measured, Sample } from "../turns.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { ask, legacyCall, modernCall } from "../machinery/mcp.ts";
import {
  behind,
  startFixture,
  startHosting,
  startMcpAgent,
  startNodeServer,
} from "../machinery/servers.ts";
import { burst } from "../machinery/streams.ts";
import { type Metric, OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";
import { openAndCall } from "./set-up.ts";

const COUNTED = 20;
/** Of what nobody may do often. */
const COUNTED_SIGN_INS = 2;
/** Registration, the authorization and its form, the page to sign in and its form, and the code. */
const SIGN_IN_REQUESTS = 6;
/** What is not waited for is counted so often. */
const RUNS = 5;
const EVENTS = 100;
const BYTES = 200;
const REPORT = { COST_REPORT: "on" };

const METRICS: readonly Metric[] = [
  { key: "dollars", unit: "$ per million", digits: 3 },
  { key: "objectRequests", unit: "object requests", digits: 2 },
  { key: "rowsWritten", unit: "rows written", digits: 2 },
  { key: "rowsRead", unit: "rows read", digits: 2 },
];

const NOTES: readonly string[] = [
  ...pricesInWords(),
  `${RUNS} runs of ${COUNTED}; of sign-ins and refreshes, of ${COUNTED_SIGN_INS}`,
  "not in it: processor time of Workers ($0.02 for a million ms), what is stored, alarms that go off, what the plan includes",
];

export async function measureBill({ say }: Plan): Promise<readonly Result[]> {
  const results: Result[] = [];
  say("bill, calls");
  const hosted = [
    { name: OURS, start: () => startHosting(REPORT) },
    { name: "McpAgent", start: () => startMcpAgent(REPORT) },
  ];
  await withServers(hosted, async (running) => {
    const modern = running.filter(({ name }) => name === OURS); // McpAgent has sessions alone
    results.push(resultOf("modern call", await each(modern, billOfModernCalls)));
    results.push(resultOf("session call", await each(running, billOfCalls)));
    results.push(
      resultOf(
        "session set-up",
        await each(running, (one) => billOf(one, 3, () => openAndCall(one.server.url))),
      ),
    );
  });
  say("bill, streams");
  const proxied = [
    { name: OURS, start: () => behind(startNodeServer, REPORT) },
    { name: "McpAgent", start: () => startMcpAgent(REPORT) },
  ];
  await withServers(proxied, async (running) => {
    const streamed = await each(running, async (one) => {
      const session = await openAndCall(one.server.url);
      return billOf(one, 1, () => burst(one.server.url, session, EVENTS, BYTES));
    });
    results.push(resultOf(`call with ${EVENTS} events`, streamed));
  });
  return [...results, ...(await measureStreams(say)), ...(await measureSignIns(say))];
}

/** Streams that clients hold, each with a subscription. */
function measureStreams(say: Plan["say"]): Promise<readonly Result[]> {
  say("bill, streams that are held");
  const hangUp = new AbortController();
  const contenders = [{ name: OURS, start: () => behind(startFixture, REPORT) }];
  return withServers(contenders, async (running) => {
    const opened = await each(running, (one) =>
      billOf(one, 3, () => openSession(new URL(one.server.url).origin, hangUp.signal)),
    );
    const listening = await each(running, (one) =>
      billOf(one, 1, () => openListener(new URL(one.server.url).origin, hangUp.signal)),
    );
    return [
      resultOf("session that holds a stream", opened),
      resultOf("listener that holds a stream", listening),
    ];
  }).finally(() => hangUp.abort());
}

/** A client that registers in a browser that is new, and the refresh of what it got. */
function measureSignIns(say: Plan["say"]): Promise<readonly Result[]> {
  say("bill, sign-in");
  const vars = { ...REPORT, AUTH_MODE: "oauth", OWNER_CODE };
  const contenders = [{ name: OURS, start: () => startHosting(vars) }];
  return withServers(contenders, async (running) => {
    const signedIn = await each(running, (one) =>
      billOf(one, SIGN_IN_REQUESTS, () => signIn(one), COUNTED_SIGN_INS),
    );
    const refreshed = await each(running, async (one) => {
      const { client, ...first } = await signIn(one);
      let { tokens } = first;
      const refresh = async (): Promise<void> => {
        const answer = await requestToken(gatewayAt(one), {
          grant_type: "refresh_token",
          client_id: client.client_id,
          refresh_token: tokens.refresh_token,
          resource: one.server.url,
        });
        tokens = await tokensIn(answer);
      };
      return billOf(one, 1, refresh, COUNTED_SIGN_INS);
    });
    return [resultOf("sign-in", signedIn), resultOf("token refresh", refreshed)];
  });
}

function signIn(one: Running): ReturnType<typeof obtainToken> {
  return obtainToken(gatewayAt(one), { code: OWNER_CODE, resource: one.server.url });
}

function gatewayAt({ server: { url } }: Running): Parameters<typeof obtainToken>[0] {
  return { origin: new URL(url).origin, send: overHttp };
}

function billOfModernCalls(one: Running): Promise<Measured> {
  return billOf(one, 1, () => ask(one.server.url, modernCall()));
}

/** A call in a session that has had one. */
async function billOfCalls(one: Running): Promise<Measured> {
  const session = await openAndCall(one.server.url);
  return billOf(one, 1, () => ask(one.server.url, legacyCall(session)));
}

/** @param requests that a client sends for one of it. */
async function billOf(
  { name, server }: Running,
  requests: number,
  act: () => Promise<unknown>,
  times = COUNTED,
): Promise<Measured> {
  await act(); // what is done once is done
  const samples: Sample[] = [];
  while (samples.length < RUNS) samples.push(await countRun(server.url, requests, act, times));
  return { name, samples };
}

async function countRun(
  url: string,
  requests: number,
  act: () => Promise<unknown>,
  times: number,
): Promise<Sample> {
  const { origin } = new URL(url);
  const before = await readCosts(origin);
  const startedAt = performance.now();
  for (let n = 0; n < times; n++) await act();
  const seconds = (performance.now() - startedAt) / 1000 / times;
  const counted = operationsOf(before, await readCosts(origin), times);
  // An object is at work for as long as its client waits, at the most.
  const objectSeconds = counted.objectRequests === 0 ? 0 : seconds;
  const operations = { ...counted, workerRequests: requests, objectSeconds };
  return { ...operations, dollars: dollarsPerMillion(operations) };
}

async function each(
  running: readonly Running[],
  bill: (one: Running) => Promise<Measured>,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const one of running) measured.push(await naming(one.name, () => bill(one)));
  return measured;
}

function resultOf(variant: string, measured: readonly Measured[]): Result {
  return { row: "bill", variant, metrics: METRICS, measured, notes: NOTES };
}
