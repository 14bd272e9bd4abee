/** The canary itself: what leaves the Worker under test reaches it, and is counted. */

import { inject, test } from "vitest";

import { escapes, hitsAt, newHost, serveAt, serveJsonAt } from "./canary.ts";

test("a document that a test puts at an https URL is fetched, and the fetch is counted", async ({
  expect,
}) => {
  const host = newHost();
  const url = `https://${host}/x.json?y=1`;
  await serveJsonAt(url, { hello: "canary" });
  expect(await hitsAt(host)).toEqual([]);

  const response = await fetch(url, { headers: { Accept: "application/json" } });
  expect([response.status, await response.json()]).toEqual([200, { hello: "canary" }]);
  const hits = await hitsAt(host);
  expect(hits).toMatchObject([{ url, method: "GET", isEscape: false }]);
  expect(hits[0]?.headers).toMatchObject({ accept: "application/json" });
  expect(hits[0]?.headers).not.toHaveProperty("x-canary-url");
});

test("no document exists until a test puts it there", async ({ expect }) => {
  expect((await fetch(`https://${newHost()}/x.json`)).status).toBe(404);
});

test("a redirect is returned as one, and each hop is a hit", async ({ expect }) => {
  const [from, to] = [newHost(), newHost()];
  const headers = { Location: `https://${to}/victim.json` };
  await serveAt(`https://${from}/x.json`, { status: 302, headers });
  await serveJsonAt(`https://${to}/victim.json`, { a: 1 });

  const seen = await fetch(`https://${from}/x.json`, { redirect: "manual" });
  expect([seen.status, seen.headers.get("location")]).toEqual([302, headers.Location]);
  expect(await hitsAt(to)).toEqual([]);

  const followed = await fetch(`https://${from}/x.json`);
  expect(await followed.json()).toEqual({ a: 1 });
  expect([await hitsAt(from), await hitsAt(to)].map((hits) => hits.length)).toEqual([2, 1]);
});

test("a connection can be dropped, and a response can be endless", async ({ expect }) => {
  const host = newHost();
  await serveAt(`https://${host}/gone.json`, { status: 0 });
  const gone = await fetch(`https://${host}/gone.json`).then(
    ({ status }) => status,
    () => "failed",
  );
  expect(gone).toBe("failed");

  await serveAt(`https://${host}/slow.json`, { body: '{"a":', isEndless: true });
  const abort = new AbortController();
  const slow = await fetch(`https://${host}/slow.json`, { signal: abort.signal });
  const reader = slow.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value as Uint8Array)).toBe('{"a":');
  abort.abort();
  await expect(reader?.read()).rejects.toThrow("abort");
});

test.for([
  "https://elsewhere.example/x.json",
  "https://localhost/x.json",
  "https://127.0.0.1/x.json",
  "http://127.0.0.1/x.json",
  "http://169.254.169.254/latest",
])("a request to %s is refused, and counted as an escape", async (url, { expect }) => {
  const before = await escapes();
  expect((await fetch(url)).status).toBe(403);
  expect((await escapes()).slice(before.length)).toMatchObject([{ url, isEscape: true }]);
});

test("the scripted upstreams are reached directly", async ({ expect }) => {
  const before = await escapes();
  for (const slug of ["alpha", "beta"]) {
    const response = await fetch(`${inject("scripted")}/u/${slug}`, { method: "POST", body: "{}" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("Mcp-Session-Id");
  }
  expect(await escapes()).toEqual(before);
});
