/** A tool that is run from its page: the ordinary way, with the person's own rights, and seen as it goes. */

import { exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { tryJson } from "../../../src/lib/try-json.ts";
import { isObject } from "../../../src/protocol/json-rpc.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Submission } from "../../support/oauth-forms.ts";
import type { Json, Reaction, Recorded } from "../../support/scripted-upstream-script.ts";
import { until, within } from "../bounded.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import {
  ANSWER,
  event,
  jsonOf,
  MODERN_ANSWER,
  progress,
  streamOf,
  type Upstream,
} from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const send = (url: string, sent: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" }));
const browser = new Browser(ORIGIN, send);

const READS = { annotations: { readOnlyHint: true } };
const find = {
  ...{ name: "find", title: "Find things", ...READS },
  inputSchema: {
    type: "object",
    properties: {
      q: { type: "string", "x-mcp-header": "Q" },
      count: { type: "integer", minimum: 1, default: 3 },
      unit: { enum: ["C", "F"] },
      where: { type: "object" },
    },
    required: ["q"],
  },
};
const none = { type: "object", properties: {} };
const wipe = {
  name: "wipe",
  inputSchema: find.inputSchema,
  annotations: { destructiveHint: true },
};
const secret = { name: "secret", inputSchema: none, ...READS };

let modern: Upstream;
let legacy: Upstream;

beforeAll(async () => {
  setLimits({ resultBytes: 20_000, streamAfterSeconds: 1, askSeconds: 30 });
  const tools = [find, wipe, secret, { name: "quiet", inputSchema: none, ...READS }];
  const entry = { tools: { deny: ["secret"] } };
  [modern, legacy] = (await takeSeveral([
    { script: { server: "modern", tools }, entry },
    { script: { server: "legacy", tools }, entry },
  ])) as [Upstream, Upstream];
});
afterEach(() => {
  vi.restoreAllMocks();
});

const pathOf = (name: string, { slug }: Upstream = modern): string => `/catalog/${slug}/${name}`;

/** The next calls of its tools are met like that. */
async function react(upstream: Upstream, ...reactions: readonly Reaction[]): Promise<void> {
  const server = upstream === modern ? "modern" : "legacy";
  const tools = [find, wipe, secret, { name: "quiet", inputSchema: none, ...READS }];
  await upstream.script({ server, tools, reactions: { "tools/call": reactions } });
}

async function run(name: string, submission: Submission, upstream = modern): Promise<Page> {
  const page = await browser.visit(pathOf(name, upstream));
  return browser.submit(page, { action: pathOf(name, upstream), ...submission });
}

async function callsOf(upstream: Upstream): Promise<readonly Recorded[]> {
  return upstream.sent("tools/call");
}
async function lastCall(upstream: Upstream): Promise<Recorded> {
  const call = (await callsOf(upstream)).at(-1);
  if (call === undefined) throw new Error("no call");
  return call;
}
const argumentsOf = ({ body }: Recorded): unknown => body?.params?.["arguments"];

const result = (more: Json): Reaction => jsonOf({ result: { resultType: "complete", ...more } });

describe("a tool that reads", () => {
  test("P5: runs at the first click, with the values of the form in their types", async ({
    expect,
  }) => {
    const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const fields = { "a:q": "tea & <b>", "a:count": "12345678901234567890", "a:unit": '"C"' };
    const page = await run("find", { fields: { ...fields, "a:where": '{"x":[1.0]}' } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("What it gave");
    expect(page.text).toContain("ran find");
    expect(page.text).toMatch(/\d+ ms · \d+ bytes/);
    const call = await lastCall(modern);
    expect(call.text).toContain(
      '"arguments":{"q":"tea & <b>","count":12345678901234567890,"unit":"C","where":{"x":[1.0]}}',
    );
    expect(call.headers["mcp-param-q"]).toBe("tea & <b>");

    const lines = spy.mock.calls.map(([line]: readonly unknown[]) => tryJson(String(line)));
    const own = lines.filter(isObject).filter(({ method }) => method === "tools/call");
    expect(own).toMatchObject([
      { principal: "local.console", server: modern.slug, name: "find", outcome: "ok" },
    ]);
    const audit = lines.filter(isObject).filter(({ what }) => what === "tool_tried");
    expect(audit).toMatchObject([{ user: "local", server: modern.slug, tool: "find" }]);
    expect(JSON.stringify([own, audit])).not.toContain("tea");
  });

  test("gets nothing for a field that is empty, and what it has by default", async ({ expect }) => {
    await run("find", { fields: { "a:q": "x" } });
    expect(argumentsOf(await lastCall(modern))).toEqual({ q: "x", count: 3 });
  });

  test("can be changed and run again", async ({ expect }) => {
    const first = await run("find", { fields: { "a:q": "two\u202e\nlines", "a:unit": '"F"' } });
    const again = await browser.submit(first, { button: "Change and run again" });
    const { controls } = again.forms.find(({ method }) => method === "post") ?? { controls: [] };
    const value = (name: string) => controls.find((each) => each.name === name)?.value;
    expect([value("a:unit"), value("a:count")]).toEqual(['"F"', "3"]);
    expect(value("a:q")).toBe("two\nlines");
  });
});

describe("a form that is not right", () => {
  test("is shown again with an error beside each field, and sends nothing", async ({ expect }) => {
    const before = (await callsOf(modern)).length;
    const page = await run("find", { fields: { "a:q": "", "a:count": "0.5", "a:where": "[1]" } });
    expect(page.status).toBe(400);
    expect(page.text).toContain("q required This is needed.");
    expect(page.text).toContain("count This is not a whole number.");
    expect(page.text).toContain("where This is not an object");
    expect(page.html.match(/aria-invalid="true"/g)).toHaveLength(3);
    expect(page.html).toContain('value="0.5"');
    expect((await callsOf(modern)).length).toBe(before);
  });

  test("without the token of the page’s cookie sends nothing", async ({ expect }) => {
    const before = (await callsOf(modern)).length;
    const path = pathOf("quiet");
    const page = await browser.visit(path);
    const csrf = page.forms.flatMap(({ controls }) => controls).find(({ name }) => name === "csrf");
    const cookie = browser.jar.headerFor(new URL(ORIGIN), "POST", false) ?? "";
    const status = async (token: string, headers: Record<string, string>): Promise<number> => {
      const type = { "Content-Type": "application/x-www-form-urlencoded" };
      const sent = { method: "POST", headers: { ...type, ...headers }, body: `csrf=${token}` };
      return (await send(ORIGIN + path, sent)).status;
    };
    const token = csrf?.value ?? "";
    expect(await status("", { Cookie: cookie })).toBe(403);
    expect(await status(token, {})).toBe(403);
    expect(await status(token, { Cookie: cookie, Origin: "https://evil.example" })).toBe(403);
    expect((await callsOf(modern)).length).toBe(before);
    expect(await status(token, { Cookie: cookie, Origin: ORIGIN })).toBe(200);
  });

  test("P1: runs no tool that the policy hides, and looks like none of a tool that never was", async ({
    expect,
  }) => {
    const page = await browser.visit(pathOf("quiet"));
    const [hidden, unknown] = await Promise.all(
      ["secret", "nonsense"].map((name) => {
        const forms = page.forms.map((form) => ({ ...form, action: pathOf(name) }));
        return browser.submit({ ...page, forms }, { action: pathOf(name) });
      }),
    );
    const nonce = /nonce="[^"]+"/g;
    expect(hidden?.status).toBe(404);
    expect(hidden?.html.replaceAll(nonce, "")).toBe(unknown?.html.replaceAll(nonce, ""));
    expect((await callsOf(modern)).map(({ body }) => body?.params?.["name"])).not.toContain(
      "secret",
    );
  });
});

describe("a tool that may write", () => {
  test("P6: sends nothing at the first click, and the same values at the second", async ({
    expect,
  }) => {
    const before = (await callsOf(modern)).length;
    const typed = 'right\u200f-to-left é \u2028 "q"';
    const asked = await run("wipe", { fields: { "a:q": typed, "a:count": "1.0" } });
    expect(asked.text).toContain(`Run wipe at`);
    expect(asked.text).toContain("Nothing has been sent yet.");
    expect((await callsOf(modern)).length).toBe(before);
    const done = await browser.submit(asked, { button: /^Run wipe at/ });
    expect(done.text).toContain("ran wipe");
    const call = await lastCall(modern);
    expect(argumentsOf(call)).toEqual({ q: typed, count: 1 });
    expect(call.text).toContain('"count":1.0');
  });
});

describe("a result", () => {
  const BREAKING = `</pre><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const PNG = "iVBORw0KGgo=";

  test("is text, structure, picture and sound, and never markup", async ({ expect }) => {
    const content = [
      { type: "text", text: BREAKING },
      { type: "image", mimeType: "image/png", data: PNG },
      { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
      { type: "image", mimeType: "image/svg+xml", data: PNG },
      { type: "image", mimeType: "image/png", data: `"><script>` },
      { type: "image", mimeType: `image/png"><script>`, data: PNG },
      { type: "resource", resource: { uri: "ui://x", mimeType: "text/html", text: BREAKING } },
      { type: "resource_link", uri: "javascript:alert(1)", name: BREAKING },
      { type: BREAKING },
      7,
    ];
    await react(modern, result({ content, structuredContent: { n: BREAKING } }));
    const { html, headers, text } = await run("quiet", {});
    expect(html).not.toContain("<script");
    expect(html.match(/<img[^>]*>/g)).toEqual([
      `<img src="data:image/png;base64,${PNG}" alt="A picture that the tool gave" />`,
    ]);
    expect(html).toContain('src="data:audio/wav;base64,UklGRg=="');
    expect(html).not.toContain("<iframe");
    expect(html).not.toMatch(/href="javascript/i);
    expect(text).toContain(BREAKING);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("img-src 'self' data:");
    expect(policy).toContain("media-src data:");
    expect(policy).not.toContain("script-src");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("that says it failed is shown as that, and so is an error", async ({ expect }) => {
    const error = { code: -32050, message: `Broken ${BREAKING}` };
    await react(modern, result({ isError: true, content: [] }), jsonOf({ error }));
    expect((await run("quiet", {})).text).toContain("The tool says that it failed");
    const { text, html } = await run("quiet", {});
    expect(text).toContain("It did not run to its end Broken </pre>");
    expect(text).toContain("Error -32050");
    expect(html).not.toContain("<script");
  });

  test("is bound by the limits of every client", async ({ expect }) => {
    await react(modern, result({ content: [{ type: "text", text: "x".repeat(30_000) }] }));
    expect((await run("quiet", {})).text).toContain("LIMITS.resultBytes allows 20000");
  });
});

/** Runs a tool, and reads its page as it comes. */
async function begin(): Promise<{ read: () => Promise<string>; leave: () => Promise<void> }> {
  const page = await browser.visit(pathOf("quiet"));
  const csrf = page.forms.flatMap(({ controls }) => controls).find(({ name }) => name === "csrf");
  const cookie = browser.jar.headerFor(new URL(ORIGIN), "POST", false) ?? "";
  const headers = { "Content-Type": "application/x-www-form-urlencoded", Cookie: cookie };
  const body = `csrf=${csrf?.value ?? ""}`;
  const response = await within(
    send(ORIGIN + pathOf("quiet"), { method: "POST", headers, body }),
    "the page",
  );
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    read: async () => (await reader?.read())?.value ?? "",
    leave: async () => reader?.cancel(),
  };
}

describe("while a tool runs,", () => {
  test("its page shows the progress, before there is a result", async ({ expect }) => {
    await react(modern, streamOf(event(progress(3)), { gate: "end" }, event(MODERN_ANSWER)));
    const { read } = await begin();
    let text = "";
    await until(async () => {
      text += await read();
      return text.includes('class="progress"') ? true : undefined;
    }, "the progress");
    expect(text).toContain("Running");
    expect(text).not.toContain("What it gave");
    await modern.open("end");
    await until(async () => {
      text += await read();
      return text.includes("</html>") ? true : undefined;
    }, "the end of the page");
    expect(text).toContain("What it gave");
    expect(text.indexOf("What it gave")).toBeGreaterThan(text.indexOf('class="progress"'));
  });

  test("a person who leaves the page ends the call", async ({ expect }) => {
    await react(modern, streamOf(event(progress(1)), { gate: "never" }, event(MODERN_ANSWER)));
    const { read, leave } = await begin();
    await read();
    await modern.receives("tools/call");
    await leave();
    const cut = await until(async () => {
      const call = (await callsOf(modern)).at(-1);
      return call?.isCutOff === true ? call : undefined;
    }, "the end of the call");
    expect(cut.isCutOff).toBe(true);
  });
});

const asking = (requests: Json): Reaction =>
  jsonOf({
    result: { resultType: "input_required", inputRequests: requests, requestState: "theirs" },
  });

const visit = (url: string): Json => ({
  visit: { method: "elicitation/create", params: { mode: "url", message: "Go", url } },
});

describe("what a tool asks", () => {
  const requestedSchema = {
    type: "object",
    properties: { name: { type: "string", minLength: 2 }, isSure: { type: "boolean" } },
    required: ["name"],
  };
  const ask = {
    method: "elicitation/create",
    params: { message: "Who are <you>?", requestedSchema },
  };

  test("P7: is a form, and the answer ends the same call", async ({ expect }) => {
    await react(modern, asking({ who: ask }), jsonOf(MODERN_ANSWER));
    const asked = await run("find", { fields: { "a:q": "x" } });
    expect(asked.text).toContain("Who are <you>?");
    const wrong = await browser.submit(asked, { button: "Answer", fields: { "q0:name": "A" } });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("This has to be at least 2 characters.");
    expect(wrong.html).toContain("A</textarea>");
    const answers = { "q0:name": "Ann", "q0:isSure": "true" };
    const done = await browser.submit(wrong, { button: "Answer", fields: answers });
    expect(done.text).toContain("What it gave ");
    expect(done.text).toContain("ran");
    const [first, second] = (await callsOf(modern)).slice(-2);
    expect(second?.body?.params).toMatchObject({
      name: "find",
      arguments: argumentsOf(first as Recorded),
      requestState: "theirs",
      inputResponses: { who: { action: "accept", content: { name: "Ann", isSure: true } } },
    });
  });

  test("can be declined", async ({ expect }) => {
    await react(modern, asking({ who: ask }), jsonOf(MODERN_ANSWER));
    const asked = await run("quiet", {});
    await browser.submit(asked, { button: "Decline" });
    expect((await lastCall(modern)).body?.params).toMatchObject({
      inputResponses: { who: { action: "decline" } },
    });
  });

  test("is a link, where it is a page to visit; never a link that runs", async ({ expect }) => {
    await react(
      modern,
      asking(visit("https://vendor.example/allow")),
      asking(visit("javascript:x")),
    );
    const asked = await run("quiet", {});
    expect(asked.html).toContain('href="https://vendor.example/allow"');
    expect(asked.html).toContain('rel="noopener noreferrer"');
    expect((await run("quiet", {})).html).not.toContain('href="javascript');
  });

  test("comes from a legacy server, too, whose call waits meanwhile", async ({ expect }) => {
    const question = { id: "q-1", ...ask };
    await react(legacy, streamOf(event(question), { gate: "answered" }, event(ANSWER)));
    const asked = await run("quiet", {}, legacy);
    expect(asked.text).toContain("Who are <you>?");
    const answering = browser.submit(asked, { button: "Answer", fields: { "q0:name": "Ann" } });
    expect(await legacy.receivesAnswer("q-1")).toMatchObject({
      result: { action: "accept", content: { name: "Ann" } },
    });
    await legacy.open("answered");
    expect((await answering).text).toContain("What it gave");
    expect(await callsOf(legacy)).toHaveLength(1);
  });

  test("is never what nobody could answer", async ({ expect }) => {
    await react(modern, asking({ model: { method: "sampling/createMessage", params: {} } }));
    const { text } = await run("quiet", {});
    expect(text).toContain("It did not run to its end");
  });
});
