/** A model for each view that is like a real one. */

import { Glob } from "../../src/policy/glob.ts";
import { ACCOUNT_MODELS } from "./account-page-models.ts";
import type { ServerHealth } from "../../src/observability/health.ts";
import type { AccountView } from "../../src/pages/view/account-view.ts";
import type { AdminServerView } from "../../src/pages/view/admin-server-view.ts";
import type { ToolRow } from "../../src/pages/view/server-tools-view.ts";
import type { AdminView } from "../../src/pages/view/admin-view.ts";
import type { ConnectView } from "../../src/pages/view/connect-view.ts";
import type { ConsentView } from "../../src/pages/view/consent-view.ts";
import type {
  CredentialForm,
  KeyCreatedView,
  ServiceCreatedView,
} from "../../src/pages/view/credentials-view.ts";
import type { LoginsView, LoginTraceView } from "../../src/pages/view/logins-view.ts";
import type { ProblemView } from "../../src/pages/view/problem-view.ts";
import type { SignInView } from "../../src/pages/view/sign-in-view.ts";

const NOW = Date.UTC(2026, 10, 21, 15, 30);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ORIGIN = "https://mcp.example.com";
const HANDLE = "h".repeat(43);
const CSRF = "c".repeat(43);
const consent: ConsentView = {
  handle: HANDLE,
  client: { name: "Claude Code", verifiedHost: undefined },
  redirectUri: "http://127.0.0.1:53412/callback?from=claude",
  resource: {
    name: "All servers of this gateway",
    url: `${ORIGIN}/mcp`,
    upstreams: ["GitHub", "Linear", "Postgres (read only)", "Tea house"],
  },
  scopes: [
    {
      id: "mcp",
      label: "Use your servers",
      description: "List and call tools, read resources and prompts, as you.",
      isOptional: false,
      isChecked: true,
      isNew: false,
      isSensitive: false,
    },
    {
      id: "admin",
      label: "Manage this gateway",
      description: "See everybody’s connections and end them.",
      isOptional: true,
      isChecked: true,
      isNew: true,
      isSensitive: true,
    },
  ],
  account: "ada@example.com",
  isOtherPerson: false,
  changes: [],
};

const signIn: SignInView = {
  client: { name: "Claude Code" },
  handle: HANDLE,
  providers: [
    { name: "github", label: "Continue with GitHub" },
    { name: "entra", label: "Continue with Microsoft" },
  ],
  owner: {},
};

const problem: ProblemView = {
  title: "This application is not known here",
  whatHappened: "It uses a registration that this gateway does not have, or has no longer.",
  whatToDo: [
    "In the application, remove this server and add it again.",
    "If that does not help, sign out of the server there first.",
  ],
  reference: "k7m-p2x9",
};

const form: CredentialForm = {
  label: "",
  resources: [
    { value: `${ORIGIN}/mcp`, label: "Every server", scope: "mcp", isChecked: true },
    {
      ...{ value: `${ORIGIN}/mcp/github`, label: "The server github" },
      ...{ scope: "mcp:github", isChecked: false },
    },
    {
      ...{ value: `${ORIGIN}/admin`, label: "What only administrators see" },
      ...{ scope: "admin", isChecked: false },
    },
  ],
  days: [30, 90, 365],
  error: undefined,
};

const reach = { resource: `${ORIGIN}/mcp`, scopes: ["mcp"] };

const account: AccountView = {
  now: NOW,
  csrf: CSRF,
  accounts: ACCOUNT_MODELS.own,
  published: [],
  person: { label: "ada@example.com", provider: "GitHub", isAdmin: true },
  grants: [
    {
      id: "g1",
      client: "https://claude.ai/oauth/mcp-oauth-client-metadata",
      name: "Claude",
      redirectUri: "https://claude.ai/api/mcp/auth_callback",
      ...reach,
      createdAt: NOW - 40 * DAY,
      usedAt: NOW - 5 * MINUTE,
    },
    {
      id: "g2",
      client: "Xa81kdJ2nNq0",
      name: "Claude Code",
      redirectUri: "http://127.0.0.1/callback",
      resource: `${ORIGIN}/mcp/github`,
      scopes: ["mcp:github"],
      createdAt: NOW - DAY,
    },
  ],
  approvals: [
    {
      client: "https://claude.ai/oauth/mcp-oauth-client-metadata",
      name: "Claude",
      redirectUri: "https://claude.ai/api/mcp/auth_callback",
      ...reach,
      approvedAt: NOW - 40 * DAY,
    },
  ],
  sessions: [
    {
      id: "s1",
      agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
      createdAt: NOW - 60 * MINUTE,
      seenAt: NOW,
    },
    {
      id: "s2",
      agent: "Safari on iPhone",
      createdAt: NOW - 2 * DAY,
      seenAt: NOW - 90 * MINUTE,
    },
  ],
  ownSession: "s1",
  keys: {
    list: [
      {
        id: "k1",
        label: "Nightly report",
        beginning: "edgeway_sk_h7k2m4p8r3t5w9xz",
        scopes: ["mcp"],
        resources: [`${ORIGIN}/mcp`],
        expiresAt: NOW + 60 * DAY,
        usedAt: NOW - 7 * 60 * MINUTE,
      },
      {
        id: "k2",
        label: "Old laptop",
        beginning: "mgw_sk_a7k2m4p8r3t5w9xz",
        scopes: ["mcp:github"],
        resources: [`${ORIGIN}/mcp/github`],
        expiresAt: NOW - 3 * DAY,
      },
    ],
    form,
  },
  activity: [
    { at: NOW - 2 * MINUTE, what: "Signed in with GitHub", detail: undefined, isDenial: false },
    { at: NOW - 5 * MINUTE, what: "Token refreshed", detail: "Claude", isDenial: false },
    { at: NOW - 3 * DAY, what: "Access refused", detail: "Cursor", isDenial: true },
    { at: NOW - 40 * DAY, what: "Application connected", detail: "Claude", isDenial: false },
  ],
  isPublishingOn: true,
  endpoint: `${ORIGIN}/mcp`,
  notice: "Cursor is no longer connected.",
};

const servers: readonly ServerHealth[] = [
  {
    ...{ slug: "github", state: "healthy", seenAt: NOW - 2 * MINUTE },
    counts: { tools: 46, resources: 1, templates: 3, prompts: 2 },
    ...{ watched: 12, isWatching: true },
  },
  {
    ...{ slug: "postgres-read-only", state: "failing", seenAt: NOW - 3 * 60 * MINUTE },
    trouble: {
      reason: "unreachable",
      message: 'Upstream "postgres-read-only" cannot be reached',
      since: NOW - 7 * MINUTE,
    },
    counts: { tools: 1, resources: 0, templates: 0, prompts: 0 },
    ...{ watched: 1, isWatching: false },
    conflicts: [
      {
        message:
          '2 resources of upstream "postgres-read-only" are left out: upstream "github", configured earlier, has the same URI',
        uris: ["repo://acme/schema.sql", "repo://acme/README.md"],
      },
    ],
  },
  {
    ...{ slug: "linear", state: "down" },
    trouble: {
      reason: "unauthorized",
      message: 'Upstream "linear" refused the credentials that are configured for it (401)',
      since: NOW - DAY,
    },
    counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
    ...{ watched: 0, isWatching: false },
  },
  {
    ...{ slug: "tea-house", state: "unknown" },
    counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
    ...{ watched: 0, isWatching: false },
  },
];

const notices: AdminView["notices"] = [
  {
    ...{ name: "My Files", slug: "my-files", state: "stdio" },
    sentences: ['MCP_SERVERS.my-files starts a program ("command"), which needs a machine.'],
  },
  {
    ...{ name: "billing", slug: "billing", state: "misconfigured" },
    sentences: [
      'MCP_SERVERS.billing.headers.Authorization: the secret "BILLING_TOKEN" is not set.',
    ],
  },
  {
    ...{ name: "old", slug: "old", state: "off" },
    sentences: ["MCP_SERVERS.old is switched off."],
  },
];

const NO_SERVER: ServerHealth = {
  ...{ slug: "none", state: "unknown", watched: 0, isWatching: false },
  counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
};

const items: AdminView["items"] = [
  {
    ...{ kind: "sign-in", subject: "Wiki", since: NOW - 2 * DAY },
    what: "The account that all share does not work: the sign-in service has ended it.",
    ...{ link: "/connect/wiki", remedy: "Connect it again" },
  },
  {
    ...{ kind: "secret", subject: "billing", since: undefined },
    what: "The secret BILLING_TOKEN is not set, so it is not served.",
    ...{ link: "/admin/servers/billing", remedy: "See how" },
  },
  {
    ...{ kind: "unreachable", subject: "postgres-read-only", since: NOW - 7 * MINUTE },
    what: 'Upstream "postgres-read-only" cannot be reached (connection refused, or closed before a response).',
    ...{ link: "/admin/servers/postgres-read-only", remedy: "See the server" },
  },
  {
    ...{ kind: "login", subject: "Cursor", since: NOW - 8 * MINUTE },
    what: "The application asked for a redirect address that it has not registered.",
    ...{ link: "/admin/logins/k7m-p2x9", remedy: "See the attempt" },
  },
];

const admin: AdminView = {
  now: NOW,
  csrf: CSRF,
  nav: { current: "admin", isAdmin: true, attention: items.length },
  items,
  notKnown: [],
  accounts: ACCOUNT_MODELS.servers,
  isAnythingSealed: true,
  publishing: { isOn: true, people: 2 },
  servers,
  notices,
  people: {
    users: {
      ...{ query: "", page: 1, pages: 7, found: 612, count: 612 },
      rows: [
        {
          id: "u_abcdefghijklmnopqrstuvwxyz",
          label: "ada@example.com",
          provider: "GitHub",
          isAdmin: true,
          isDisabled: false,
          isLetIn: true,
          isYou: true,
          createdAt: NOW - 90 * DAY,
          signedInAt: NOW,
        },
        {
          id: "u_zyxwvutsrqponmlkjihgfedcba",
          label: "charles@example.com",
          provider: "GitHub",
          isAdmin: false,
          isDisabled: true,
          isLetIn: true,
          isYou: false,
          createdAt: NOW - 80 * DAY,
          signedInAt: NOW - 20 * DAY,
        },
      ],
    },
    clients: [
      {
        id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
        name: "Claude",
        verifiedHost: "claude.ai",
        redirectHosts: ["claude.ai", "claude.com"],
        registeredAt: undefined,
        lastUsedAt: NOW - 5 * MINUTE,
      },
      {
        id: "Xa81kdJ2nNq0",
        name: "Cursor",
        verifiedHost: undefined,
        redirectHosts: ["cursor:", "www.cursor.com", "localhost:8787"],
        registeredAt: NOW - 12 * DAY,
        lastUsedAt: undefined,
      },
    ],
    moreClients: "Xa81kdJ2nNq0",
    services: {
      list: [
        {
          id: "svc_k3m5p7r9t2w4",
          label: "Build server",
          ...{ scopes: ["mcp:github"], resources: [`${ORIGIN}/mcp/github`] },
          createdAt: NOW - 30 * DAY,
          usedAt: NOW - 60 * MINUTE,
          maker: "ada@example.com",
          isServed: true,
        },
      ],
      form: { ...form, days: [] },
    },
  },
  notice: undefined,
};

const TOOL_ROW: ToolRow = {
  ...{ kind: "tools", name: "tool", title: "tool", description: undefined, mimeType: undefined },
  ...{ effect: "read", isStated: true, parameters: [], isListed: true, isDenied: false },
  hiddenBy: undefined,
};

const adminServer: AdminServerView = {
  ...{ now: NOW, csrf: CSRF, nav: admin.nav, slug: "postgres-read-only", notices: [] },
  isConfigured: true,
  toggle: { isOff: false, deniedTools: ["drop_table"], revision: 7 },
  toolNotice: "The tool is denied, within ten seconds everywhere.",
  tools: {
    ...{ query: "table", page: 1, pages: 3, isKnown: true, deniedCount: 2 },
    rows: [
      { ...TOOL_ROW, name: "list_tables", title: "List tables" },
      { ...TOOL_ROW, name: "drop_table", effect: "destructive", isDenied: true },
      { ...TOOL_ROW, name: "admin_vacuum", isStated: false, hiddenBy: new Glob("admin_*") },
      { ...TOOL_ROW, name: "copy_table", effect: "write", hiddenBy: "allow" },
      { ...TOOL_ROW, name: "old_table", isListed: false, isDenied: true },
    ],
  },
  items: items.filter(({ kind }) => kind === "unreachable" || kind === "sign-in"),
  server: {
    health: servers[1] ?? NO_SERVER,
    ...{ url: "https://pg.example.com/mcp?…", auth: "headers" },
    found: { era: "legacy", revision: "2025-06-18", transport: "streamable-http" },
    info: { name: "postgres", version: "1.4.2" },
    capabilities: { tools: { listChanged: true }, resources: {} },
    looks: [
      { at: NOW - MINUTE, ms: 12, failure: "unreachable" },
      { at: NOW - 3 * 60 * MINUTE, ms: 148 },
    ],
    troubles: [
      {
        reason: "unreachable",
        message: 'Upstream "postgres-read-only" cannot be reached',
        cause: "connection refused, or closed before a response",
        since: NOW - 7 * MINUTE,
      },
      {
        reason: "timeout",
        message: 'Upstream "postgres-read-only" gave no sign of life for 300 s',
        ...{ cause: "timed out", since: NOW - 2 * DAY, until: NOW - 2 * DAY + 4 * MINUTE },
      },
    ],
  },
  notice: "The server was looked at.",
};

const trace: LoginTraceView = {
  nav: { current: "logins", isAdmin: true },
  now: NOW,
  reference: "k7m-p2x9",
  startedAt: NOW - 8 * MINUTE,
  clientName: "Cursor",
  verifiedHost: undefined,
  outcome: "failed",
  likelyCause:
    "The client came back with a redirect address that it did not register. Remove the server in Cursor and add it again.",
  steps: [
    {
      at: NOW - 8 * MINUTE,
      title: "Asked for the resource’s metadata",
      detail: "/.well-known/oauth-protected-resource/mcp",
      outcome: "ok",
    },
    {
      at: NOW - 8 * MINUTE + 180,
      title: "Registered itself",
      detail: "3 redirect addresses, public client",
      outcome: "ok",
    },
    {
      at: NOW - 8 * MINUTE + 2900,
      title: "Opened the browser",
      detail: undefined,
      outcome: "noted",
    },
    {
      at: NOW - 8 * MINUTE + 3050,
      title: "Redirect address",
      detail: "http://localhost:9999/callback is not one of the registered ones",
      outcome: "failed",
    },
  ],
};

const connect: ConnectView = {
  endpoint: `${ORIGIN}/mcp`,
  isPublishingOn: false,
  sseEndpoint: `${ORIGIN}/sse`,
  servers: [
    { slug: "github", name: "GitHub", endpoint: `${ORIGIN}/mcp/github` },
    { slug: "linear", name: "Linear", endpoint: `${ORIGIN}/mcp/linear` },
  ],
  server: undefined,
  client: "claude",
  notices: [],
  signIn: { kind: "oauth", with: "GitHub" },
  isLoopback: false,
  isAdmin: false,
};

const keyCreated: KeyCreatedView = {
  label: "Nightly report",
  key: `edgeway_sk_h7k2m4p8r3t5w9xz_${"Zx9".repeat(14)}Q`,
  expiresAt: NOW + 90 * DAY,
  now: NOW,
  endpoint: `${ORIGIN}/mcp`,
  isAdmin: false,
};

const serviceCreated: ServiceCreatedView = {
  label: "Build server",
  clientId: "svc_k3m5p7r9t2w4",
  secret: `${"aB3".repeat(14)}Q`,
  tokenEndpoint: `${ORIGIN}/token`,
};

const logins: LoginsView = {
  nav: trace.nav,
  now: NOW,
  logins: [
    {
      reference: "k7m-p2x9",
      startedAt: NOW - 8 * MINUTE,
      clientName: "Cursor",
      outcome: "failed",
      summary: "Stopped at the redirect address.",
    },
    {
      reference: "a1b-c2d3",
      startedAt: NOW - MINUTE,
      clientName: "Claude Code",
      outcome: "open",
      summary: "Waits for approval.",
    },
    {
      reference: "z9y-x8w7",
      startedAt: NOW - 3 * DAY,
      clientName: "Claude",
      outcome: "succeeded",
      summary: "Connected, and made its first request.",
    },
  ],
  missing: "nope",
};

export const MODELS = {
  handle: HANDLE,
  consent,
  signIn,
  problem,
  account,
  keyCreated,
  admin,
  adminServer,
  serviceCreated,
  logins,
  trace,
  connect,
};
