/** A server that demands a login is called just that, with the line of configuration that helps. */

import { test } from "vitest";

import { readRefusal } from "../../../src/upstream/http.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { fakeTarget } from "./fake-target.ts";

const METADATA = 'Bearer resource_metadata="https://notes.example/.well-known/x", scope="secret"';
const LOGIN =
  'Upstream "notes" demands a login; set auth = "oauth" in MCP_SERVERS.notes (HTTP 401)';
const HEADERS = `Upstream "notes" refused the gateway's credentials; check its "headers" in MCP_SERVERS`;

function refusal(
  status: number,
  challenge: string | undefined,
  options: Partial<UpstreamTarget> = {},
): Promise<unknown> {
  const headers: HeadersInit = challenge === undefined ? {} : { "WWW-Authenticate": challenge };
  const response = new Response("no", { status, headers });
  const target = fakeTarget(() => response, { slug: "notes", ...options });
  return readRefusal(target, response).catch((error: unknown) => error);
}

test("a challenge that names the server's metadata is a demand for a login", async ({ expect }) => {
  const options = { headers: { "X-Team": "a" } };
  for (const error of [
    await refusal(401, METADATA),
    await refusal(401, `Basic realm="x", ${METADATA}`, options),
  ]) {
    expect(error).toMatchObject({ message: LOGIN, failure: "unauthorized", status: 401 });
  }
});

test("any other refusal is one of the credentials that the server was sent", async ({ expect }) => {
  const refused = [
    await refusal(401, undefined),
    await refusal(401, 'Bearer realm="x"'),
    await refusal(401, 'Basic realm="x"'),
    await refusal(401, METADATA, { headers: { authorization: "Bearer x" } }),
  ];
  for (const error of refused) expect(error).toMatchObject({ message: `${HEADERS} (HTTP 401)` });
  expect(await refusal(403, METADATA)).toMatchObject({ message: `${HEADERS} (HTTP 403)` });
});
