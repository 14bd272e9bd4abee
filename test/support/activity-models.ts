/** Models of the pages of what happened, like real ones. */

import { BUCKETS } from "../../src/activity/histogram.ts";
import { NO_CALLS } from "../../src/activity/usage.ts";
import type { ActivityView, CallRow } from "../../src/pages/view/activity-view.ts";
import type { DayUsage, UsageView } from "../../src/pages/view/usage-view.ts";

const NOW = Date.UTC(2026, 10, 21, 15, 30, 12);
const TODAY = Math.floor(NOW / 86_400_000);
const nav = { current: "activity", isAdmin: true } as const;

const usual: CallRow = {
  ...{ id: "activity-3.7.0", at: NOW, person: undefined, client: "Claude Code", era: "legacy" },
  ...{ server: "github", method: "tools/call", name: "create_issue", effect: "write" },
  ...{ outcome: "ok", ms: 412, requestBytes: 318, resultBytes: 4210 },
  ...{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", place: `${NOW}_activity-3.7.0` },
};

const rows: readonly CallRow[] = [
  usual,
  {
    ...usual,
    name: "search_code",
    era: "modern",
    outcome: "tool_error",
    ms: 61_000,
    at: NOW - 900,
  },
  { ...usual, name: "brew_tea", server: "tea", client: "console", outcome: "cancelled", ms: 3200 },
  { ...usual, server: "*", method: "tools/list", name: "", effect: "", resultBytes: 118_204 },
  { ...usual, outcome: "error:-32602", name: "no_such_tool", traceId: "", client: "" },
  { ...usual, outcome: "error:-31999", method: "resources/read", name: "file:///etc/motd" },
  { ...usual, outcome: "refused:concurrency", ms: 0, resultBytes: 0 },
].map((row, n) => ({ ...row, id: `activity-3.7.${n}` }));

const activity: ActivityView = {
  ...{ nav, recorded: "all", isEveryones: false, filter: {}, personName: undefined, rows },
  slugs: ["github", "linear", "tea"],
  unlisted: [],
  ...{ path: "/activity", older: "/activity?before=1_activity-3.7.6", isFirst: true },
  ...{ live: undefined, mayChoose: true },
};

const people = [
  { id: "u_1", name: "Ann Archer" },
  { id: "u_2", name: "a-long-address-of-somebody@department.example.com" },
];

const everyones: ActivityView = {
  ...activity,
  isEveryones: true,
  rows: rows.map((row, n) => ({ ...row, person: people[n % 2] })),
  unlisted: [{ minute: NOW - 12_000, person: "", calls: 1204 }],
  path: "/activity?of=everyone",
};

function counts(calls: number, errors: number) {
  const buckets = Array.from({ length: BUCKETS }, (_, n) => (n < 8 ? Math.ceil(calls / 8) : 0));
  return { calls, errors, buckets };
}

const days: readonly DayUsage[] = Array.from({ length: 30 }, (_, n) => {
  const isQuiet = n % 7 > 4;
  const all = isQuiet ? NO_CALLS : counts(200 + ((n * 97) % 800), (n * 13) % 60);
  return { day: TODAY - 29 + n, ...all };
});

const usage: UsageView = {
  ...{ nav, recorded: "all", choice: { days: 30 }, personName: undefined },
  slugs: ["github", "linear", "tea"],
  whole: counts(12_345, 678),
  days,
  servers: [
    { server: "github", ...counts(9000, 600) },
    { server: "tea", ...counts(3300, 70) },
    { server: "*", ...counts(45, 8) },
  ],
  tools: [
    { server: "github", method: "tools/call", tool: "create_issue", ...counts(8000, 590) },
    { server: "github", method: "resources/read", tool: "", ...counts(800, 10) },
    { server: "tea", method: "", tool: "_other", ...counts(3, 0) },
  ],
  people: [
    { person: "u_1", name: "Ann Archer", ...counts(9100, 400) },
    { person: "", name: "Somebody", ...counts(3, 0) },
  ],
  ...{ hasMoreTools: true, hasMorePeople: false },
};

export const ACTIVITY_MODELS = { activity, everyones, usage };
