// Has an isolate of its own: it uses up the requests of the one person that all files have.
/** The console has no more than any client of its person: the limit of their requests is one. */

import { exports } from "cloudflare:workers";
import { beforeAll, test, vi } from "vitest";

import { tryJson } from "../../../src/lib/try-json.ts";
import { isObject } from "../../../src/protocol/json-rpc.ts";
import { Browser } from "../../support/oauth-browser.ts";
import { modernCall } from "../client.ts";
import { takeOnly } from "../only-server.ts";
import { setLimits } from "../own-limits.ts";
import type { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const tools = [
  {
    name: "quiet",
    inputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true },
  },
];
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);
let upstream: Upstream;

beforeAll(async () => {
  setLimits({ requestsPerMinute: 3 });
  upstream = await takeOnly({ server: "modern", tools });
});

test("a person’s runs count with the requests of their other clients", async ({ expect }) => {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const path = `/catalog/${upstream.slug}/quiet`;
  const run = async (): Promise<string> =>
    (await browser.submit(await browser.visit(path), { action: path })).text;
  await (await modernCall(upstream)).body?.cancel();
  expect(await run()).toContain("ran quiet");
  expect(await run()).toContain("ran quiet");
  expect(await run()).toContain("More than 3 requests in a minute; come back in");
  expect(await upstream.sent("tools/call")).toHaveLength(3);
  const lines = spy.mock.calls.map(([line]: readonly unknown[]) => tryJson(String(line)));
  const refused = lines.filter(isObject).filter(({ outcome }) => outcome === "refused:rate");
  expect(refused).toMatchObject([{ principal: "local.console" }]);
  vi.restoreAllMocks();
});
