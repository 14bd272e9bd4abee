/** What needs somebody: which facts become items, in which order, and where their links lead. */

import { describe, test } from "vitest";

import type { AccountSummary } from "../../../src/accounts/vault.ts";
import type { ServerHealth } from "../../../src/observability/health.ts";
import type { AccountServer } from "../../../src/pages/account-context.ts";
import { attentionIn, type Known } from "../../../src/pages/attention.ts";
import { RANKS } from "../../../src/pages/operator/attention-item.ts";

const NOW = 1_800_000_000_000;
const NOTHING: Known = {
  ...{ now: NOW, notices: [], servers: [], accounts: [], logins: [], notKnown: [] },
};
const OAUTH = { legacy: false, catalog: "user" } as const;

function server(slug: string, more: Partial<ServerHealth> = {}): ServerHealth {
  const counts = { tools: 0, resources: 0, templates: 0, prompts: 0 };
  return { slug, state: "healthy", counts, watched: 0, isWatching: false, ...more };
}

function down(slug: string, forMs: number, reason = "unreachable", cause?: string): ServerHealth {
  const message = `Upstream "${slug}" cannot be reached`;
  const trouble = { reason, message, since: NOW - forMs, ...(cause !== undefined && { cause }) };
  return server(slug, { state: "down", trouble });
}

function atServer(
  kind: AccountServer["auth"]["kind"],
  account?: Partial<AccountSummary>,
): Known["accounts"][number] {
  const key = { header: "Authorization", prefix: "" };
  const auth = kind === "key" ? { kind, key } : { kind, oauth: OAUTH };
  const summary = account && {
    ...{ slug: "wiki", accountId: "a", kind: "oauth", state: "connected" },
    ...{ requested: [], granted: [], missing: [], connectedAt: 1, ...account },
  };
  const server = { slug: "wiki", url: "https://wiki.example/mcp", auth } as AccountServer;
  return {
    server,
    account: summary as AccountSummary | undefined,
  };
}

const short = (known: Partial<Known>): readonly string[] =>
  attentionIn({ ...NOTHING, ...known }).map(({ kind, link }) => `${kind} ${link}`);

test("nothing needs anybody where all is well", ({ expect }) => {
  const accounts = [atServer("oauth-shared", {}), atServer("oauth"), atServer("key", {})];
  expect(short({ servers: [server("a"), server("b", { state: "personal" })], accounts })).toEqual(
    [],
  );
});

const after = (seconds: number) => short({ servers: [down("docs", seconds * 1000)] });

describe("a server that does not answer", () => {
  test("needs nobody for half a minute, and somebody after one", ({ expect }) => {
    expect([after(30), after(59)]).toEqual([[], []]);
    expect([after(60), after(90)]).toEqual([
      ["unreachable /admin/servers/docs"],
      ["unreachable /admin/servers/docs"],
    ]);
  });

  test("is named with the reason, its cause, and since when", ({ expect }) => {
    const servers = [{ ...down("docs", 90_000, "unreachable", "timed out"), label: "Docs" }];
    expect(attentionIn({ ...NOTHING, servers })).toMatchObject([
      {
        ...{ subject: "Docs", since: NOW - 90_000 },
        what: 'Upstream "docs" cannot be reached (timed out).',
      },
    ]);
  });

  test("is no item where the gateway itself cannot tell, or its account is one", ({ expect }) => {
    const servers = [down("a", 90_000, "gateway"), down("b", 90_000, "account")];
    expect(short({ servers })).toEqual([]);
  });
});

describe("an account", () => {
  test.for([
    ["oauth-shared", undefined, "sign-in /connect/wiki"],
    ["oauth-shared", { state: "needs-connect", trouble: "ended" }, "sign-in /connect/wiki"],
    ["oauth-shared", { state: "moved", trouble: "moved" }, "sign-in /connect/wiki"],
    ["oauth-shared", { state: "uncertain" }, undefined],
    ["oauth", { state: "needs-scope" }, "sign-in /connect/wiki"],
    ["oauth", undefined, undefined],
    ["key", { state: "needs-connect", trouble: "refused" }, "sign-in /connect/wiki"],
    // A vendor that fails for a moment is asked again by the gateway.
    ["client-credentials", { state: "failing", trouble: "failing" }, undefined],
    ["client-credentials", undefined, undefined],
    [
      "client-credentials",
      { state: "failing", trouble: "client-refused" },
      "sign-in /admin/servers/wiki",
    ],
  ] as const)("%s, %j: %s", ([kind, account, item], { expect }) => {
    expect(short({ accounts: [atServer(kind, account)] })).toEqual(
      item === undefined ? [] : [item],
    );
  });

  test("says whose it is, why, and since when", ({ expect }) => {
    const ended = { state: "needs-connect", trouble: "ended", since: 7 } as const;
    const [shared, own, ofGateway] = (["oauth-shared", "oauth", "client-credentials"] as const).map(
      (kind) => attentionIn({ ...NOTHING, accounts: [atServer(kind, ended)] })[0],
    );
    expect(shared).toMatchObject({ since: 7 });
    expect(shared?.what).toMatch(/^The account that all share does not work: [a-z].+\.$/);
    expect(own?.what).toMatch(/^Your account there does not work: /);
    expect(ofGateway?.what).toMatch(/^The gateway's own account there does not work: /);
  });
});

test("an entry of the configuration: a secret that is not set, a mistake, a program, an unknown key", ({
  expect,
}) => {
  const notices: Known["notices"] = [
    { name: "Old", slug: "old", state: "off", sentences: ["is switched off."] },
    { name: "a", slug: "a", state: "misconfigured", sentences: ["url is missing."] },
    {
      ...{ name: "Bank", slug: "bank", state: "misconfigured", missingSecrets: ["KEY", "ID"] },
      sentences: ["the secret KEY is not set.", "the secret ID is not set."],
    },
    { name: "!!", state: "misconfigured", sentences: ["no slug."] },
    { name: "p", slug: "p", state: "stdio", sentences: ["starts a program."] },
    { name: "k", slug: "k", state: "partly-read", sentences: ["nobody knows x."] },
  ];
  expect(short({ notices })).toEqual([
    "secret /admin/servers/bank",
    "configuration /admin/servers/a",
    "configuration /admin#entries",
    "configuration /admin/servers/p",
    "configuration /admin/servers/k",
  ]);
  expect(attentionIn({ ...NOTHING, notices })[0]?.what).toBe(
    "The secrets KEY, ID are not set, so it is not served.",
  );
});

describe("a server that nobody has called", () => {
  const DAY = 86_400_000;
  const known = (days: number) => [server("docs", { knownSince: NOW - days * DAY })];
  const calls = (days?: number) => new Map(days === undefined ? [] : [["docs", NOW - days * DAY]]);

  const sinceBy = (lastCalled: Map<string, number>) =>
    attentionIn({ ...NOTHING, servers: known(90), lastCalled })[0]?.since;

  test.for([
    ["is young", 13, calls(), 0],
    ["is old and was never called", 14, calls(), 1],
    ["is old and was called long ago", 90, calls(15), 1],
    ["is old and was called lately", 90, calls(13), 0],
    ["is old, and no calls are recorded", 90, undefined, 0],
  ] as const)("%s", ([, days, lastCalled, count], { expect }) => {
    const items = short({ servers: known(days), lastCalled });
    expect(items).toEqual(count === 0 ? [] : ["unused /admin/servers/docs"]);
  });

  test("has the time of the last call, or of the first look", ({ expect }) => {
    expect([sinceBy(calls(20)), sinceBy(calls())]).toEqual([NOW - 20 * DAY, NOW - 90 * DAY]);
  });
});

test("all kinds stand in the order of their ranks, and what lasts longest is first of its kind", ({
  expect,
}) => {
  const conflicts = [{ message: "same URI", uris: [], since: NOW }];
  const items = attentionIn({
    now: NOW,
    notices: [
      { name: "m", slug: "m", state: "misconfigured", sentences: ["mistake."] },
      {
        ...{ name: "s", slug: "s", state: "misconfigured", missingSecrets: ["S"] },
        sentences: ["not set."],
      },
    ],
    servers: [server("c", { conflicts }), down("young", 70_000), down("old", 700_000)],
    accounts: [atServer("oauth-shared")],
    logins: [{ reference: "abc", name: "Cursor", sentence: "It failed.", at: NOW }],
    notKnown: [],
    offline: [
      { slug: "my-files", host: "laptop", since: NOW - 60_000, link: "/account#published" },
    ],
  });
  expect(items.map(({ kind }) => RANKS[kind])).toEqual([10, 20, 30, 40, 40, 45, 50, 70]);
  expect(items.map(({ subject }) => subject)).toEqual([
    ...["wiki", "s", "m", "old", "young", "Cursor", "c", "my-files"],
  ]);
  expect(items[5]?.link).toBe("/admin/logins/abc");
});

test("a published server needs its publisher after a minute without its machine", ({ expect }) => {
  const offline = (forMs: number) => [
    { slug: "my-files", host: "laptop", since: NOW - forMs, link: "/account#published" },
  ];
  expect(short({ offline: offline(59_000) })).toEqual([]);
  expect(attentionIn({ ...NOTHING, offline: offline(60_000) })).toMatchObject([
    {
      ...{ kind: "offline", subject: "my-files", link: "/account#published", since: NOW - 60_000 },
      what: expect.stringContaining("from laptop, which is not connected") as string,
    },
  ]);
});
