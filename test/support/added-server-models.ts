/** Models of the pages about servers that operators add. */

import type { AddedServer, Revised } from "../../src/observability/added-servers.ts";
import type { AddedServerPart } from "../../src/pages/view/added-server-view.ts";
import type { AdminServersView } from "../../src/pages/view/admin-servers-view.ts";
import type { CandidatesView } from "../../src/pages/view/candidates-view.ts";
import type { EditReviewView } from "../../src/pages/view/edit-review-view.ts";
import type { ExportView } from "../../src/pages/view/export-view.ts";
import type { EditServerView } from "../../src/pages/view/edit-server-view.ts";
import { MODELS } from "./page-models.ts";

const { now, csrf, nav, servers, notices } = MODELS.admin;
const MINUTE = 60_000;

const draft: Revised<AddedServer> = {
  ...{ slug: "tea-house", label: "Tea house", state: "draft", revision: 3 },
  entry: {
    url: "https://tea.example/mcp?key=hidden",
    headers: { Authorization: "Bearer ${TEA_TOKEN}" },
  },
  secretNames: ["TEA_TOKEN"],
  provenance: { kind: "server.json", name: "io.example/tea-house", version: "1.4.0" },
  probe: {
    ...{ at: now - MINUTE, outcome: "reached", era: "legacy", transport: "streamable-http" },
    offers: {
      tools: { count: 14, names: ["brew", "pour", "taste"] },
      resources: { count: 1, names: ["tea:menu"] },
      templates: { count: 0, names: [] },
      prompts: { count: 0, names: [] },
    },
  },
  ...{ changedBy: "u_1", changedAt: now - 2 * MINUTE },
};

const list: AdminServersView = {
  ...{ now, csrf, nav, health: servers, notices, allowsLoopback: true },
  added: [
    draft,
    { ...draft, slug: servers[0]?.slug ?? "", label: "Issues", state: "live" },
    { ...draft, slug: "paused-one", label: "Paused one", state: "paused" },
    { ...draft, slug: "in-both", label: "In both", state: "live" },
  ],
  ...{ overridden: ["in-both"], mistake: undefined, signIn: undefined },
  notice: "The server is removed, within ten seconds everywhere.",
};

const candidates: CandidatesView = {
  ...{ csrf, nav, sealed: "s".repeat(200), filled: undefined, mistake: undefined },
  items: [
    {
      ...{ kind: "candidate", slug: "tea-house", label: "Tea house", entry: draft.entry },
      fields: [
        {
          ...{ name: "TEA_TOKEN", label: "Authorization", isSecret: true, isRequired: true },
          description: "The key of the house.",
        },
        {
          ...{ name: "REGION", label: "Region", isSecret: false, isRequired: true },
          ...{ initial: "eu", choices: ["eu", "us"] },
        },
      ],
      secrets: { TEA_TOKEN: "tea-with-milk-and-no-sugar" },
      remarks: ['"timeout" means nothing here.'],
      provenance: { kind: "map" },
    },
    {
      ...{ kind: "candidate", slug: "docs", entry: { url: "https://docs.example/mcp" } },
      ...{ fields: [], secrets: {}, remarks: [], provenance: { kind: "url" } },
    },
    {
      ...{ kind: "left", name: "files" },
      sentence: "It starts a program, which needs a machine: publish it from one.",
    },
  ],
};

const part: AddedServerPart = {
  ...{ now, csrf, added: draft, isOverridden: false },
  ...{ changedBy: "ada@example.com", hasSignIn: true },
};

const edit: EditServerView = {
  ...{ csrf, nav, server: draft, mistakes: [], typed: undefined, allowsLoopback: false },
  editable: {
    url: "https://tea.example/mcp",
    headers: [["X-Region", "eu"]],
    secrets: [
      { name: "TEA_TOKEN", uses: ["Authorization: Bearer ${TEA_TOKEN}"], isLong: false },
      { name: "TEA_KEY", uses: ["oauth.privateKey = ${TEA_KEY}"], isLong: true },
    ],
    auth: "headers",
    others: ["prefix", "tools"],
  },
  auths: ["headers", "oauth", "oauth-shared", "key"],
};

const review: EditReviewView = {
  ...{ now, csrf, nav, server: { ...draft, state: "live" }, probe: draft.probe },
  hasSignIn: true,
  sealed: "s".repeat(200),
  outcome: {
    ...{ entry: { url: "https://green.tea.example/mcp" }, reach: "moved" },
    differences: [
      { what: "Label", before: "none", after: "Tea house" },
      {
        what: "Address",
        before: "https://tea.example/mcp",
        after: "https://green.tea.example/mcp",
      },
      { what: "Secret TEA_TOKEN", before: "set", after: "another value" },
    ],
  },
};

const exported: ExportView = {
  nav,
  toml: `[vars.MCP_SERVERS.tea-house]
url = "https://tea.example/mcp"
headers = { Authorization = "Bearer \${SERVER_TEA_HOUSE_TOKEN}" }
`,
  secrets: ["SERVER_TEA_HOUSE_TOKEN", "SERVER_COFFEE_HOUSE_TOKEN"],
};

export const ADDED_MODELS = { list, candidates, part, edit, review, exported };
