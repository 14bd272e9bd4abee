/** What needs the person at the machine, without sign-in: `/admin`, its JSON, and the page of each server. */

// Has an isolate of its own: its servers are looked at when it starts.
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import { Browser, type Page } from "../../support/oauth-browser.ts";
import { until } from "../bounded.ts";
import { changeConfiguration } from "../configuration.ts";
import { always } from "../merged-session.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const SECOND = 1000;
const send = (url: string, sent?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" }));
const browser = new Browser(ORIGIN, send);
const visit = (path: string): Promise<Page> => browser.visit(path);

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const uri = (name: string) => ({ uri: `tea:${name}`, name });
const DEAD = { status: 503, isLasting: true } as const;
const HANGS = { gate: "never", isLasting: true } as const;
const deadly = {
  server: "legacy",
  reactions: { "server/discover": [DEAD], initialize: [DEAD], GET: [DEAD] },
} as const;

let well: Upstream;
let old: Upstream;
let failing: Upstream;
let twin: Upstream;

beforeAll(async () => {
  setLimits({ looksPerStart: 100 });
  const reactions = {
    "resources/list": always({ resources: [uri("menu")], resultType: "complete" }),
    "resources/templates/list": always({ resourceTemplates: [], resultType: "complete" }),
    "prompts/list": always({ prompts: [], resultType: "complete" }),
  };
  const resources = { reactions, capabilities: { tools: {}, resources: {} } };
  [well, old, failing, twin] = (await takeSeveral([
    { script: { server: "modern", tools: [tool("a"), tool("b")], ...resources } },
    { script: { server: "legacy", tools: [tool("c")] } },
    { script: { server: "legacy", tools: [tool("d")] } },
    { script: { server: "modern", ...resources } },
  ])) as [Upstream, Upstream, Upstream, Upstream];
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, object>;
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({
      ...servers,
      bank: { url: "https://bank.example/mcp", headers: { Authorization: "Bearer ${NOT_SET}" } },
      program: { command: "npx", args: ["-y", "files"] },
      "!!": { url: "https://odd.example/mcp" },
    }),
  });
});

/** Waits until /admin shows this: a look is over when its server's answers have been taken in. */
function adminShowing(what: string): Promise<Page> {
  return until(async () => {
    const page = await visit("/admin");
    return page.text.includes(what) ? page : undefined;
  }, `"${what}" on /admin`);
}

describe("when the gateway has started", () => {
  test("each server is looked at once, beside the first answer and not before it", async ({
    expect,
  }) => {
    expect((await send(`${ORIGIN}/health`)).status).toBe(200);
    const all = [well, old, failing, twin];
    await until(async () => {
      const asked = await Promise.all(
        all.map(async (each) => (await each.sent("tools/list")).length),
      );
      return asked.every((count) => count === 1) ? true : undefined;
    }, "a look at each");
    const { text } = await adminShowing("4 healthy");
    expect(text).not.toMatch(/unknown/i);
    expect(text).not.toContain("Being looked at");
    for (const { slug } of all) expect(text).toMatch(new RegExp(`${slug}\\s+Healthy`));
    expect(await well.sent("tools/list")).toHaveLength(1);
  });
});

describe("the list", () => {
  test("has what the configuration and the resources need, and nothing of people", async ({
    expect,
  }) => {
    const { text, html } = await adminShowing(`${twin.slug} Conflict`);
    expect(text).toMatch(/Needs you.*bank Secret missing.*NOT_SET is not set/s);
    expect(text).toMatch(/program Configuration.*!! Configuration/s);
    expect(text).toMatch(/Admin 4 to look after/);
    expect(text).not.toContain("People");
    expect(text).not.toContain("Sign-ins");
    expect(html).not.toContain("/admin/users");
  });

  test("leads to pages that exist, each with the thing in view", async ({ expect }) => {
    const body = await json();
    expect(body.count).toBe(4);
    for (const { link, subject } of body.items) {
      const { pathname } = new URL(link);
      const page = await visit(pathname);
      expect([pathname, page.status]).toEqual([pathname, 200]);
      expect(page.text).toContain(subject);
    }
    expect((await visit("/admin/servers/nonsense")).status).toBe(404);
  });
});

interface Attention {
  readonly count: number;
  readonly items: readonly {
    readonly rank: number;
    readonly kind: string;
    readonly subject: string;
    readonly what: string;
    readonly since?: string;
    readonly link: string;
  }[];
}

async function json(): Promise<Attention> {
  const response = await send(`${ORIGIN}/admin/attention.json`);
  return response.json<Attention>();
}

const outages = async () =>
  (await json()).items.filter(({ kind }) => kind === "unreachable" || kind === "offline");

describe("a server that goes down", () => {
  test("P8, P9: is no item after 30 s, one with reason and since after 90 s, and gone at the next load once mended", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await failing.script(deadly);
    const since = Date.now() + 60 * SECOND;
    vi.setSystemTime(since);
    await press(failing.slug);
    vi.setSystemTime(since + 30 * SECOND);
    expect(await outages()).toEqual([]);
    expect((await visit("/admin")).text).toMatch(new RegExp(`${failing.slug}\\s+Failing`));
    vi.setSystemTime(since + 90 * SECOND);
    const [item] = await outages();
    expect(item).toMatchObject({ rank: 40, subject: failing.slug });
    expect(item?.what).toContain(`Upstream "${failing.slug}" is failing (HTTP 503)`);
    expect(new Date(item?.since ?? 0).getTime()).toBe(since);
    const page = await visit(`/admin/servers/${failing.slug}`);
    expect(page.text).toMatch(/Last troubles.*HTTP 503.*Goes on/s);
    expect(page.text).toContain("Failed: unreachable");

    await failing.script({ server: "legacy", tools: [tool("d")] });
    vi.setSystemTime(since + 100 * SECOND);
    // A load looks at it, and shows what comes of that if it comes soon: else the next load does.
    await until(async () => ((await outages()).length === 0 ? true : undefined), "it to be gone");
    const after = await visit(`/admin/servers/${failing.slug}`);
    expect(after.text).toMatch(/HTTP 503.*until/s);
    expect(after.text).not.toMatch(/Trouble (?!s)/);
  });

  test("and answers nothing holds up no page", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await old.script({
      server: "legacy",
      reactions: { "server/discover": [HANGS], initialize: [HANGS], "tools/list": [HANGS] },
    });
    vi.setSystemTime(Date.now() + 300 * SECOND);
    // It was well when it was last asked, and nobody has found anything else.
    const { text } = await visit("/admin");
    expect(text).toMatch(new RegExp(`${old.slug}\\s+Healthy`));
    await old.script({ server: "legacy", tools: [tool("c")] });
  });
});

async function press(slug: string): Promise<Page> {
  return browser.submit(await visit(`/admin/servers/${slug}`), { button: `Check now ${slug}` });
}

describe("the page of a server", () => {
  test("says how it is reached, what it is, and what was found", async ({ expect }) => {
    const { text } = await visit(`/admin/servers/${well.slug}`);
    expect(text).toContain("Transport Streamable HTTP");
    expect(text).toContain("Era modern, without sessions");
    expect(text).toContain("Revision 2026-07-28");
    expect(text).toContain("Offers 2 tools, 1 resource");
    expect(text).toMatch(/Capabilities [a-z, ]*tools/);
    expect(text).toMatch(/Last looks.*\d+ ms Read/s);
  });

  test("has it looked at by a form of its own, and not by a GET or by another site's form", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    // A look that the button waits for: the page begins no other one for a while.
    vi.setSystemTime(Date.now() + 600 * SECOND);
    await press(well.slug);
    vi.setSystemTime(Date.now() + 3 * SECOND);
    const before = (await well.sent("tools/list")).length;
    const path = `/admin/servers/${well.slug}/check`;
    expect((await visit(path)).status).toBe(404);
    const post = (headers: Record<string, string>): Promise<Response> =>
      send(ORIGIN + path, {
        ...{ method: "POST", body: "csrf=x" },
        headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      });
    expect((await post({ Origin: "https://evil.example" })).status).toBe(403);
    expect((await post({ Origin: ORIGIN })).status).toBe(403);
    expect(await well.sent("tools/list")).toHaveLength(before);
    const page = await press(well.slug);
    expect(page.text).toContain("The server was looked at.");
    expect(await well.sent("tools/list")).toHaveLength(before + 1);
  });

  test("has it looked at no more often than is of use", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let last = await press(well.slug);
    for (let n = 0; n < 15; n += 1) last = await press(well.slug);
    expect(last.text).toContain("It is looked at already.");
  });

  test("of an entry that is not served says how it is mended", async ({ expect }) => {
    const { text, status } = await visit("/admin/servers/bank");
    expect(status).toBe(200);
    expect(text).toMatch(/bank Not served.*NOT_SET/s);
    expect(text).not.toContain("Check now");
  });
});
