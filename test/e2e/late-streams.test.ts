/**
 * A server that asks beside a call, on the stream of its session, and whose streams are slow to open:
 * who asks then finds somebody who listens. The server itself drops what it says to nobody, and waits.
 */

import { afterAll, beforeAll } from "vitest";

import { ROOTS } from "../support/clients-answers.ts";
import { test } from "../support/clients.ts";
import { type GatewayProxy, startGatewayProxy } from "../support/gateway-proxy.ts";
import { getFrom, openRawSession, postTo } from "../support/raw-session.ts";
import { readEvents } from "../support/read-events.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";

const LATE_MS = 300;
/** Half of the time for which the server waits for an answer to a request that no client received. */
const HANGING = { timeout: 30_000 };

let slow: GatewayProxy;
let gateway: Server;

beforeAll(async () => {
  const { origin, pathname } = new URL(sharedServers().everything);
  slow = await startGatewayProxy(origin, {
    inward: (headers, body) => ({ headers, body }),
    delay: (method) => (method === "GET" ? LATE_MS : 0),
  });
  gateway = await startGateway({ servers: { late: { url: `${slow.origin}${pathname}` } } });
});

afterAll(async () => {
  await gateway.stop();
  await slow.close();
});

test(
  "a modern client receives the server's request, and the call completes",
  HANGING,
  async ({ expect, connect }) => {
    const client = await connect("v2-modern", `${gateway.url}/mcp/late`);
    expect(textOf(await client.callTool("get-roots-list"))).toContain("(2 total)");
    // By itself it asks for them as well, a while after it was initialized.
    expect(new Set(client.asked.map(({ method }) => method))).toEqual(new Set(["roots/list"]));
  },
);

test(
  "a legacy client with an open stream receives the server's request, and the call completes",
  HANGING,
  async ({ expect }) => {
    const session = await openRawSession(`${gateway.url}/mcp/late`);
    const hangUp = new AbortController();
    const answers: Promise<Response>[] = [];
    const listening = readEvents(await getFrom(session, undefined, hangUp.signal), {
      event({ data }) {
        if (data === "") return; // where the stream can be taken up from
        const { id, method } = JSON.parse(data) as { id?: unknown; method?: string };
        if (method !== "roots/list") return;
        answers.push(postTo(session, { jsonrpc: "2.0", id, result: { roots: ROOTS } }));
      },
    }).catch(() => undefined); // hung up on, below
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get-roots-list" },
    };
    expect(await (await postTo(session, call)).text()).toContain("(2 total)");
    hangUp.abort();
    await listening;
    // By itself the server asks as well: that answer may be under way still, and the gateway stays for it.
    await Promise.all(answers);
  },
);
