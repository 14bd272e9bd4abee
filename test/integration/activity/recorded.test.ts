/** What is recorded of calls, through the whole Worker, and what the pages show of it without sign-in. */

import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { activityShard } from "../../../src/activity/shards.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import { modern, Session } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { jsonOf, Upstream } from "../upstream.ts";
import { everythingKept, localCalls } from "./recorded.ts";

const SECRET = "marker-9f27c1d0-that-nobody-may-keep";
const ORIGIN = "http://localhost:8787";
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);
const visit = (path: string): Promise<Page> => browser.visit(path);
const secretResult = {
  content: [{ type: "text", text: SECRET }],
  structuredContent: { [SECRET]: SECRET },
};

const lasting = (result: object) => [{ ...jsonOf({ result }), isLasting: true }] as const;

let now: Upstream;
let then: Upstream;

beforeAll(async () => {
  changeConfiguration({ ACTIVITY: "all" });
  const complete = { ...secretResult, resultType: "complete" };
  [now, then] = await Promise.all([
    Upstream.take({ server: "modern", reactions: { "tools/call": lasting(complete) } }),
    Upstream.take({ server: "legacy", reactions: { "tools/call": lasting(secretResult) } }),
  ]);
});

async function callModern(name: string): Promise<void> {
  const meta = { [SECRET]: SECRET };
  const params = { name, arguments: { password: SECRET } };
  const { result } = await responseIn(await modern(now, "tools/call", params, { meta }));
  if (result === undefined) throw new Error("The call was not answered");
}

async function callLegacy(name: string): Promise<void> {
  const session = await Session.inUse(then.mcp);
  const params = { arguments: { password: SECRET }, _meta: { [SECRET]: SECRET } };
  await responseIn(await session.callTool(name, params));
}

const ofTools = async () => (await localCalls()).filter(({ method }) => method === "tools/call");

const rowsAt = async (query: string): Promise<number> =>
  [...(await visit(`/activity?${query}`)).html.matchAll(/<tr\s+id="call-/g)].length;

describe("a call", () => {
  test("P12: is recorded with who, what, how and how long, in both eras, and with no content", async ({
    expect,
  }) => {
    await callModern("work");
    await callLegacy("work");
    await expect.poll(async () => (await ofTools()).length).toBe(2);
    const calls = await ofTools();
    expect(calls.find(({ server }) => server === now.slug)).toMatchObject({
      ...{ person: "local", era: "modern", name: "work", outcome: "ok" },
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(calls.find(({ server }) => server === then.slug)).toMatchObject({
      ...{ person: "local", clientName: "integration", era: "legacy", name: "work" },
      requestBytes: expect.any(Number),
    });
    const kept = await everythingKept();
    expect(kept).toContain(now.slug);
    expect(kept).not.toContain(SECRET);
  });

  test("P12: is on the pages, and its content is on none", async ({ expect }) => {
    const pages = await Promise.all(["/activity", "/usage", "/usage.csv"].map(visit));
    for (const { status, html } of pages) {
      expect(status).toBe(200);
      expect(html).toContain(now.slug);
      expect(html).not.toContain(SECRET);
    }
    expect(pages[0]?.text).toContain("Answered");
    expect(pages[0]?.text).toContain("integration · legacy");
  });

  test("is found by server, tool and outcome", async ({ expect }) => {
    expect(await rowsAt(`server=${now.slug}`)).toBe(1);
    expect(await rowsAt(`server=${then.slug}&name=work`)).toBe(1);
    expect(await rowsAt("name=work")).toBe(2);
    expect(await rowsAt("outcome=refused")).toBe(0);
    expect(await rowsAt("before=1_activity-0.1.0")).toBe(0);
  });
});

test("T16: the trace id of an answer finds its call, and no other", async ({ expect }) => {
  const names = ["traced", "other"];
  const [response] = await Promise.all(
    names.map((name) => modern(now, "tools/call", { name, arguments: {} })),
  );
  await response?.text();
  const trace = response?.headers.get("traceresponse") ?? "";
  await expect.poll(() => rowsAt("name=other")).toBe(1);
  // Whole, as a header has it, and the id alone, as the log has it.
  for (const traceId of [trace, trace.split("-")[1] ?? ""]) {
    const query = new URLSearchParams({ traceId }).toString();
    await expect.poll(() => rowsAt(query)).toBe(1);
    expect((await visit(`/activity?${query}`)).text).toContain("traced at");
  }
  expect(await rowsAt(`traceId=${"f".repeat(32)}`)).toBe(0);
  expect(await rowsAt("traceId=nonsense")).toBe(0);
});

test("P13: the page says how many calls are not listed, and of which minute", async ({
  expect,
}) => {
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  const unlisted = [{ minute, person: "local", calls: 1204 }];
  await env.ACTIVITIES.getByName(activityShard("local")).add({ lines: [], latest: 0, unlisted });
  const { text } = await visit("/activity");
  expect(text).toMatch(/Some calls of the minute from [^:]+:\d\d UTC are not listed: 1,204\./);
});

describe("the file for spreadsheets", () => {
  test("P19: has no cell that would be a formula", async ({ expect }) => {
    await callModern('=HYPERLINK("https://evil.example")');
    const csv = async (): Promise<string> => (await visit("/usage.csv")).html;
    await expect.poll(csv).toContain("HYPERLINK");
    expect(await csv()).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    const { headers } = await visit("/usage.csv");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="[\w.-]+\.csv"$/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

const live = (path: string): Promise<Response> => exports.default.fetch(new Request(ORIGIN + path));

describe("the page", () => {
  test("may connect to the gateway alone, and runs no script but its own", async ({ expect }) => {
    const { headers, html } = await visit("/activity");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toMatch(/script-src 'nonce-[\w-]+'(?:;|$)/);
    expect(html.match(/<script/g)).toHaveLength(1);
    const older = await visit("/activity?before=1_activity-0.1.0");
    expect(older.html).not.toContain("<script");
    expect(older.headers.get("content-security-policy")).not.toContain("connect-src");
  });

  test("is live: what ended since it was made, and then each call once it has ended", async ({
    expect,
  }) => {
    const [, address = ""] = /data-live="([^"]+)"/.exec((await visit("/activity")).html) ?? [];
    expect(address).toMatch(/^\/activity\/live\?since=/);
    await callModern("missed");
    await expect.poll(async () => (await localCalls())[0]?.name).toBe("missed");
    const response = await live(address);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) text += (await reader?.read())?.value ?? "";
    };
    await until("missed");
    expect(text).toMatch(/^event: begin\nretry: \d+\ndata: \n\n/);
    await callModern("shown-live");
    await until("shown-live");
    expect(text).toContain("event: calls");
    expect(text).not.toContain(SECRET);
    await reader?.cancel();
  });
});

test("of no call is anything recorded where recording is off", async ({ expect }) => {
  changeConfiguration({ ACTIVITY: "off" });
  const before = (await localCalls()).length;
  await callModern("unseen");
  await callLegacy("unseen");
  // What is recorded after it would come after it.
  changeConfiguration({ ACTIVITY: "all" });
  await callModern("seen");
  await expect.poll(async () => (await localCalls()).length).toBe(before + 1);
  expect(await everythingKept()).not.toContain("unseen");
  changeConfiguration({ ACTIVITY: "off" });
  const page = await visit("/activity");
  expect(page.text).toContain("Calls are not recorded");
  expect((await visit("/activity/live?since=0_0")).status).toBe(404);
});
