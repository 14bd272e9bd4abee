/**
 * The official conformance suite for clients, where the server demands a login: the suite plays it and its
 * authorization server, and the gateway is the client of both. Nothing is expected to fail, and a warning is a
 * failure too.
 */

import { describe } from "vitest";

import type { Connect } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { obtainToken } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { MODERN_REVISION } from "../support/revisions.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { serverOf, useAccount } from "./client-accounts.ts";
import { listScenarios, type Play, runClientSuite, type Scenario } from "./client-suite.ts";
import { RUN_TIMEOUT_MS } from "./suite.ts";

const OTHER_ISSUER = "The answer came from elsewhere";

/** Where the client must not get through, each with what the person reads; the suite looks at where it stops. */
const REFUSED: Readonly<Record<string, string>> = {
  "auth/scope-retry-limit": "does not allow this",
  "auth/resource-mismatch": "The server speaks of another server",
  "auth/iss-supported-missing": OTHER_ISSUER,
  "auth/iss-wrong-issuer": OTHER_ISSUER,
  "auth/iss-unexpected": OTHER_ISSUER,
  "auth/iss-normalized": OTHER_ISSUER,
  "auth/metadata-issuer-mismatch": "The sign-in service calls itself by another name",
};

/** Left out: extensions that the gateway does not offer, each with what it does instead. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "auth/enterprise-managed-authorization":
    "A company's identity provider vouches for the person (ID-JAG). Here each person connects an account.",
  "auth/dpop": "Tokens are bound to a key (RFC 9449). The gateway asks for bearer tokens only.",
  "auth/dpop-nonce": "As auth/dpop, with a nonce of the server's.",
  "auth/wif-jwt-bearer":
    "A workload's own JWT is exchanged for a token (RFC 7523). The gateway is known by a secret or a key.",
};

const isMine = (name: string): boolean => name.startsWith("auth/") && !(name in LEFT_OUT);

/** One person may begin to connect only so many accounts in a short time. */
const SERVERS_PER_GATEWAY = 10;

const RUNS = [
  ["--requirements", "2026-07-28"],
  ["--requirements", "2025-11-25"],
  ["--spec-version", "2025-03-26"],
] as const;

/** @returns a play for each of these scenarios, by its name. */
async function open(
  scenarios: readonly Scenario[],
  connect: Connect,
  started: (gateway: Server) => void,
): Promise<[name: string, play: Play][]> {
  const servers = scenarios.map(
    async (one, at) => [`scenario-${at}`, await serverOf(one)] as const,
  );
  const gateway = await startGateway({
    auth: "oauth",
    servers: Object.fromEntries(await Promise.all(servers)),
  });
  started(gateway);
  const place = { origin: gateway.url, send: overHttp };
  const { browser, tokens } = await obtainToken(place, { code: OWNER_CODE });
  const send: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", `Bearer ${tokens.access_token}`);
    return fetch(input, { ...init, headers });
  };
  return scenarios.map(({ name, revision }, at) => {
    const play: Play = async () => {
      const kind = revision === MODERN_REVISION ? "v2-modern" : "v2-legacy";
      const url = endpointFor(kind, `scenario-${at}`, gateway.url);
      const client = await connect(kind, url, { fetch: send, capabilities: {} });
      const refusal = await useAccount(client, browser);
      const reason = REFUSED[name];
      const isAsMeant = reason === undefined ? refusal === undefined : refusal?.includes(reason);
      if (isAsMeant !== true) throw new Error(refusal ?? "Not refused");
    };
    return [name, play];
  });
}

describe("U77 the suite for clients, with a login at the server", () => {
  test.for(RUNS)(
    "%s %s: every scenario passes",
    { timeout: RUN_TIMEOUT_MS },
    async ([kind, revision], { connect, expect, onTestFinished }) => {
      const all = kind === "--spec-version" ? ["--suite", "all"] : [];
      const wrong = await runClientSuite([...all, kind, revision], async (scenarios) => {
        const mine = scenarios.filter(({ name }) => isMine(name));
        const plays = new Map<string, Play>();
        const gateways: Server[] = [];
        for (let at = 0; at < mine.length; at += SERVERS_PER_GATEWAY) {
          const some = mine.slice(at, at + SERVERS_PER_GATEWAY);
          const opened = await open(some, connect, (gateway) => {
            onTestFinished(() => gateway.stop());
            gateways.push(gateway);
          });
          for (const [name, play] of opened) plays.set(name, play);
        }
        return {
          play: async (scenario) => plays.get(scenario.name)?.(scenario),
          close: async () => void (await Promise.all(gateways.map((gateway) => gateway.stop()))),
        };
      });
      const mine = Object.entries(wrong).filter(([name]) => isMine(name));
      expect(Object.fromEntries(mine.filter(([, problems]) => problems.length > 0))).toEqual({});
      const names = (await listScenarios([kind, revision])).filter(isMine);
      expect(mine.map(([name]) => name)).toEqual(names);
    },
  );

  test("every scenario is played, or left out for a reason", async ({ expect }) => {
    const lists = await Promise.all(RUNS.map((args) => listScenarios(args)));
    const played = lists.flat().filter(isMine);
    const all = (await listScenarios([])).filter((name) => name.startsWith("auth/"));
    expect([...new Set([...played, ...Object.keys(LEFT_OUT)])].toSorted()).toEqual(all);
    expect(Object.keys(REFUSED).filter((name) => !played.includes(name))).toEqual([]);
  });
});
