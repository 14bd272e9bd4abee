/** Every view, with models like real ones, and with some that are at the edge of what there is. */

import { Glob } from "../../src/policy/glob.ts";
import type { ServerHealth } from "../../src/observability/health.ts";
import { editReviewView } from "../../src/pages/view/edit-review-view.ts";
import { exportView } from "../../src/pages/view/export-view.ts";
import { editServerView } from "../../src/pages/view/edit-server-view.ts";
import { ADDED_MODELS } from "./added-server-models.ts";
import { accountView } from "../../src/pages/view/account-view.ts";
import { adminServerView } from "../../src/pages/view/admin-server-view.ts";
import { addedServerPart } from "../../src/pages/view/added-server-view.ts";
import { adminServersView } from "../../src/pages/view/admin-servers-view.ts";
import { candidatesView } from "../../src/pages/view/candidates-view.ts";
import { adminView, type AdminView } from "../../src/pages/view/admin-view.ts";
import { CLIENT_NAMES } from "../../src/pages/view/client-guides.ts";
import { connectView } from "../../src/pages/view/connect-view.ts";
import { consentView } from "../../src/pages/view/consent-view.ts";
import { keyCreatedView, serviceCreatedView } from "../../src/pages/view/credentials-view.ts";
import type { View } from "../../src/pages/view/layout.ts";
import { loginsView, loginTraceView } from "../../src/pages/view/logins-view.ts";
import {
  doneView,
  notFoundView,
  problemView,
  signedOutView,
} from "../../src/pages/view/problem-view.ts";
import { setupDoneView, setupView, signInView } from "../../src/pages/view/sign-in-view.ts";
import { connectAccountView } from "../../src/pages/view/connect-account-view.ts";
import { connectedView } from "../../src/pages/view/connected-view.ts";
import { accountProblemView } from "../../src/pages/view/account-problem-view.ts";
import { catalogView } from "../../src/pages/view/catalog-view.ts";
import {
  confirmView,
  failureView,
  outcomeView,
  progressView,
  questionsView,
  runView,
} from "../../src/pages/view/run-view.ts";
import { serverView } from "../../src/pages/view/server-view.ts";
import { toolView } from "../../src/pages/view/tool-view.ts";
import { unlistedToolView } from "../../src/pages/view/unlisted-tool-view.ts";
import { NO_CALLS } from "../../src/activity/usage.ts";
import { activityView } from "../../src/pages/view/activity-view.ts";
import { usageView } from "../../src/pages/view/usage-view.ts";
import { ACTIVITY_MODELS } from "./activity-models.ts";
import { ACCOUNT_MODELS } from "./account-page-models.ts";
import { CATALOG_MODELS, ERRORS, NOTHING } from "./catalog-models.ts";
import { MODELS } from "./page-models.ts";

/** Has no place to break, is wider than any phone, and is markup where escaping is forgotten. */
export const HOSTILE = `<script>alert("x")</script>'\u202E&${"W".repeat(90)}`;

const NO_SERVER: ServerHealth = {
  ...{ slug: "none", state: "unknown", watched: 0, isWatching: false },
  counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
};
const PEOPLE = MODELS.admin.people as NonNullable<AdminView["people"]>;
const { consent, signIn, account, admin, connect } = MODELS;
const { signIn: link, key: keyLink, connected, problem: trouble } = ACCOUNT_MODELS;
const { activity, everyones, usage } = ACTIVITY_MODELS;
const { catalog, server, tool, unlisted, run, questions, result } = CATALOG_MODELS;
const HOSTILE_SERVER = { slug: "s", label: HOSTILE, host: HOSTILE, help: HOSTILE };

export const SAMPLES: Readonly<Record<string, View>> = {
  consent: consentView(consent),
  "consent-verified": consentView({
    ...consent,
    client: { name: "Claude", verifiedHost: "claude.ai" },
    redirectUri: "https://claude.ai/api/mcp/auth_callback",
    scopes: consent.scopes.slice(0, 1),
    account: undefined,
    changes: ["It calls itself Claude now; it was Claude AI.", "It asks for one scope more."],
  }),
  "consent-application": consentView({
    ...consent,
    client: { name: "Cursor", verifiedHost: undefined },
    redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback",
  }),
  "consent-other-person": consentView({ ...consent, isOtherPerson: true }),
  "consent-hostile": consentView({
    ...consent,
    client: { name: HOSTILE, verifiedHost: undefined },
    redirectUri: `https://accounts.google.com.${"sign-in.".repeat(20)}example/cb?x=${"y".repeat(400)}`,
    resource: { ...consent.resource, upstreams: [HOSTILE, "b"] },
    account: HOSTILE,
    changes: [HOSTILE],
  }),
  "sign-in": signInView({ ...signIn, providers: [] }),
  "sign-in-error": signInView({
    ...{ ...signIn, providers: [] },
    owner: { error: "That is not the owner code." },
  }),
  "sign-in-throttled": signInView({
    ...{ ...signIn, providers: [], client: undefined },
    owner: { waitSeconds: 42 },
  }),
  "sign-in-providers": signInView({ ...signIn, owner: undefined }),
  "sign-in-both": signInView(signIn),
  "sign-in-none": signInView({ ...signIn, providers: [], owner: undefined }),
  setup: setupView({ handle: MODELS.handle, nonce: MODELS.handle }),
  "setup-done": setupDoneView("ovi5-n6tq-2kxc-8hrm-wj3d-p9ae-7yfb-4uzs"),
  problem: problemView(MODELS.problem),
  "problem-return": problemView({
    title: "The request is not complete",
    whatHappened: "The application left out what makes sign-in safe, so nothing was allowed.",
    whatToDo: ["Update the application, then try again."],
    reference: "q4d-81zt",
    returnTo: { href: "https://phish.example/cb?error=invalid_request", host: "phish.example" },
  }),
  account: accountView(account),
  "account-empty": accountView({
    ...account,
    ...{ accounts: [], grants: [], approvals: [], sessions: [], activity: [] },
    notice: undefined,
    keys: { ...account.keys, list: [] },
    isPublishingOn: false,
    person: { label: "the owner", provider: "the owner code", isAdmin: false },
  }),
  "account-unreadable": accountView({ ...account, accounts: undefined, published: undefined }),
  "account-publishing": accountView({
    ...account,
    published: [
      { name: "files", slug: "my-files", host: "laptop", since: account.now, isPaused: false },
      { name: "notes", slug: "my-notes", host: "laptop", since: account.now, isPaused: true },
      {
        ...{ name: "w", slug: "my-w", host: HOSTILE, since: account.now, isPaused: false },
        offlineSince: account.now,
      },
    ],
  }),
  "account-key-error": accountView({
    ...account,
    keys: {
      ...account.keys,
      form: {
        ...account.keys.form,
        error: { field: "resource", sentence: "Choose at least one." },
      },
    },
  }),
  "account-hostile": accountView({
    ...account,
    person: { ...account.person, label: HOSTILE },
    grants: account.grants.map((each) => ({ ...each, name: HOSTILE })),
    sessions: account.sessions.map((each) => ({ ...each, agent: HOSTILE })),
    activity: account.activity.map((each) => ({ ...each, detail: HOSTILE })),
  }),
  "key-created": keyCreatedView(MODELS.keyCreated),
  admin: adminView(admin),
  "admin-many-servers": adminView({
    ...admin,
    servers: Array.from({ length: 50 }, (_, n) => ({
      ...(admin.servers[n % admin.servers.length] ?? NO_SERVER),
      slug: `server-with-a-name-${n}`,
    })),
  }),
  "admin-unreadable": adminView({
    ...admin,
    ...{ items: [], notKnown: ["sign-in", "offline"] },
    accounts: admin.accounts.map((each) => ({
      ...each,
      ...{ shared: undefined, isSharedKnown: false, people: [], notKnown: 1 },
    })),
  }),
  "admin-empty": adminView({
    ...admin,
    ...{
      nav: { ...admin.nav, attention: 0 },
      items: [],
      servers: [],
      notices: [],
      accounts: [],
      publishing: { isOn: false, people: 0 },
      people: {
        users: { query: "", page: 1, pages: 1, rows: [], found: 0, count: 0 },
        clients: [],
        moreClients: undefined,
        services: { ...PEOPLE.services, list: [] },
      },
    },
  }),
  "admin-nobody-found": adminView({
    ...admin,
    people: {
      ...PEOPLE,
      users: { ...PEOPLE.users, query: HOSTILE, pages: 1, rows: [], found: 0 },
    },
  }),
  "admin-local": adminView({
    ...admin,
    nav: { ...admin.nav, isLocal: true },
    items: admin.items.map((each) => ({ ...each, subject: HOSTILE, what: HOSTILE })),
    publishing: { isOn: true, people: undefined },
    people: undefined,
  }),
  "admin-server": adminServerView(MODELS.adminServer),
  "admin-server-entry": adminServerView({
    ...MODELS.adminServer,
    ...{ slug: "billing", server: undefined, tools: undefined, notice: undefined },
    items: admin.items.filter(({ subject }) => subject === "billing"),
    notices: admin.notices.filter(({ slug }) => slug === "billing"),
  }),
  "admin-server-hostile": adminServerView({
    ...MODELS.adminServer,
    server: MODELS.adminServer.server && {
      ...MODELS.adminServer.server,
      url: `https://example.com/${"W".repeat(200)}`,
      info: { name: HOSTILE, version: HOSTILE },
      capabilities: { [HOSTILE]: {} },
      looks: [],
      troubles: [],
    },
    tools: MODELS.adminServer.tools && {
      ...{ ...MODELS.adminServer.tools, query: HOSTILE, isKnown: false },
      rows: MODELS.adminServer.tools.rows.map((row) => ({
        ...{ ...row, name: HOSTILE, title: HOSTILE },
        ...(row.hiddenBy !== undefined && { hiddenBy: new Glob(HOSTILE) }),
      })),
    },
  }),
  "admin-server-no-tools": adminServerView({
    ...MODELS.adminServer,
    tools: { query: "", page: 1, pages: 1, isKnown: true, deniedCount: 0, rows: [] },
  }),
  "admin-servers": adminServersView(ADDED_MODELS.list),
  "admin-servers-mistake": adminServersView({
    ...ADDED_MODELS.list,
    ...{ added: [], health: [], notices: [], notice: undefined, mistake: HOSTILE },
  }),
  "admin-servers-sign-in": adminServersView({
    ...ADDED_MODELS.list,
    signIn: "/login?to=%2Fadmin%2Fservers&fresh=1",
  }),
  "admin-servers-hostile": adminServersView({
    ...ADDED_MODELS.list,
    added: ADDED_MODELS.list.added.map((each) => ({ ...each, label: HOSTILE })),
  }),
  candidates: candidatesView(ADDED_MODELS.candidates),
  "candidates-mistakes": candidatesView({
    ...ADDED_MODELS.candidates,
    mistake: "No server was chosen.",
    filled: ADDED_MODELS.candidates.items.flatMap((item) =>
      item.kind === "left"
        ? []
        : {
            ...{ candidate: item, isChosen: true, isKept: false, typed: {}, hasSecrets: true },
            mistakes: [HOSTILE, HOSTILE],
            entry: { slug: item.slug, entry: item.entry, secrets: {} },
          },
    ),
  }),
  "candidates-hostile": candidatesView({
    ...ADDED_MODELS.candidates,
    items: ADDED_MODELS.candidates.items.map((item) =>
      item.kind === "left"
        ? { ...item, name: HOSTILE, sentence: HOSTILE }
        : {
            ...item,
            ...{ slug: HOSTILE, label: HOSTILE, entry: { url: HOSTILE } },
            fields: item.fields.map((field) => ({
              ...field,
              label: HOSTILE,
              description: HOSTILE,
            })),
          },
    ),
  }),
  "export-servers": exportView(ADDED_MODELS.exported),
  "export-servers-hostile": exportView({
    ...ADDED_MODELS.exported,
    ...{ toml: HOSTILE, secrets: [HOSTILE] },
  }),
  "export-servers-none": exportView({ ...ADDED_MODELS.exported, toml: "", secrets: [] }),
  "edit-server": editServerView(ADDED_MODELS.edit),
  "edit-server-hostile": editServerView({
    ...ADDED_MODELS.edit,
    ...{ mistakes: [HOSTILE, HOSTILE], allowsLoopback: true },
    editable: {
      ...ADDED_MODELS.edit.editable,
      headers: [[HOSTILE, HOSTILE]],
      secrets: [{ name: "TEA_TOKEN", uses: [HOSTILE, HOSTILE], isLong: false }],
      others: [HOSTILE],
    },
  }),
  "edit-review": editReviewView(ADDED_MODELS.review),
  "edit-review-unseen": editReviewView({
    ...ADDED_MODELS.review,
    probe: undefined,
    outcome: {
      ...{ entry: {}, reach: "changed" },
      differences: [{ what: HOSTILE, before: HOSTILE, after: HOSTILE }],
    },
  }),
  "admin-server-draft": adminServerView({
    ...MODELS.adminServer,
    ...{ slug: "tea-house", label: "Tea house", server: undefined, items: [] },
    isConfigured: false,
    added: addedServerPart(ADDED_MODELS.part),
  }),
  "admin-server-overridden": adminServerView({
    ...MODELS.adminServer,
    added: addedServerPart({ ...ADDED_MODELS.part, isOverridden: true }),
  }),
  "admin-server-draft-hostile": adminServerView({
    ...MODELS.adminServer,
    ...{ slug: "tea-house", label: HOSTILE, server: undefined, items: [] },
    isConfigured: false,
    added: addedServerPart({
      ...ADDED_MODELS.part,
      changedBy: HOSTILE,
      added: {
        ...ADDED_MODELS.part.added,
        secretNames: [HOSTILE],
        entry: { url: HOSTILE },
        probe: {
          ...{ at: ADDED_MODELS.part.now, outcome: "login", message: HOSTILE },
          offers: {
            tools: { count: 2, names: [HOSTILE, HOSTILE] },
            resources: { count: 0, names: [] },
            templates: { count: 0, names: [] },
            prompts: { count: 0, names: [] },
          },
        },
      },
    }),
  }),
  "service-created": serviceCreatedView(MODELS.serviceCreated),
  logins: loginsView(MODELS.logins),
  "logins-empty": loginsView({ ...MODELS.logins, logins: [], missing: undefined }),
  "login-trace": loginTraceView(MODELS.trace),
  connect: connectView(connect),
  ...Object.fromEntries(
    CLIENT_NAMES.map(([client]) => [
      `connect-${client}`,
      connectView({ ...connect, client, server: connect.servers[0] }),
    ]),
  ),
  "connect-publishing": connectView({ ...connect, client: "stdio", isPublishingOn: true }),
  "connect-hostile": connectView({
    ...connect,
    server: { slug: "s", name: HOSTILE, endpoint: "https://mcp.example.com/mcp/s" },
    servers: Array.from({ length: 50 }, (_, n) => ({
      slug: `server-with-a-name-${n}`,
      name: HOSTILE,
      endpoint: `https://${"mcp.".repeat(20)}example.com/mcp/server-with-a-name-${n}`,
    })),
    signIn: { kind: "oauth", with: HOSTILE },
  }),
  "connect-local": connectView({
    ...connect,
    endpoint: "http://localhost:8787/mcp",
    sseEndpoint: "http://localhost:8787/sse",
    servers: [],
    notices: admin.notices.map((each) => ({ ...each, name: `${each.name} ${HOSTILE}` })),
    signIn: { kind: "none" },
    isLoopback: true,
  }),
  "link-sign-in": connectAccountView(link),
  "link-no-scopes": connectAccountView({
    ...link,
    account: undefined,
    way: { ...link.way, scopes: [], issuerHost: undefined, canRegisterAnew: false },
  }),
  "link-shared": connectAccountView({ ...link, isShared: true, isAdmin: true }),
  "link-local": connectAccountView({ ...link, person: undefined }),
  "link-key": connectAccountView(keyLink),
  "link-key-error": connectAccountView({
    ...keyLink,
    account: undefined,
    way: { kind: "key", error: "The server refuses the key." },
  }),
  "link-hostile": connectAccountView({
    ...link,
    server: HOSTILE_SERVER,
    person: HOSTILE,
    way: { ...link.way, host: HOSTILE, issuerHost: HOSTILE, scopes: [HOSTILE, HOSTILE] },
  }),
  "link-connected": connectedView(connected),
  "link-connected-whole": connectedView({ ...connected, missing: [] }),
  "link-problem": accountProblemView(trouble),
  "link-problem-again": accountProblemView({
    ...trouble,
    account: undefined,
    operator: undefined,
    again: "Try again",
  }),
  catalog: catalogView(catalog),
  "catalog-search": catalogView({ ...catalog, query: "issue" }),
  "catalog-nothing": catalogView({
    ...{ ...catalog, query: HOSTILE, servers: [] },
    notSearched: catalog.servers.map((each) => ({ ...each, title: HOSTILE, state: "down" })),
  }),
  "catalog-asked": catalogView({
    ...catalog,
    servers: catalog.servers.map((each, n) =>
      n === 0
        ? each
        : { ...each, state: "asked", counts: NOTHING, notes: [], rows: [], foundCount: 0 },
    ),
  }),
  "catalog-server-asked": serverView({
    ...{ ...server, rows: [], pages: 1, page: 1, instructions: undefined },
    server: { ...server.server, state: "asked", counts: NOTHING },
  }),
  "catalog-empty": catalogView({ ...catalog, servers: [] }),
  "catalog-local": catalogView({
    ...catalog,
    nav: { current: "catalog", isAdmin: true, isLocal: true },
  }),
  "catalog-server": serverView(server),
  "catalog-server-down": serverView({
    ...{ ...server, rows: [], pages: 1, page: 1, instructions: undefined },
    server: { ...server.server, state: "down", counts: NOTHING, notes: ["It is not answering."] },
  }),
  "catalog-tool": toolView(tool),
  "catalog-tool-bare": toolView({ ...tool, input: [], output: [], publicName: undefined }),
  "catalog-tool-errors": toolView({ ...tool, form: { ...tool.form, errors: ERRORS } }),
  "catalog-tool-asked": unlistedToolView({ ...unlisted, sent: undefined }),
  "catalog-tool-asked-sent": unlistedToolView(unlisted),
  "catalog-tool-down": unlistedToolView({
    ...unlisted,
    tool: HOSTILE,
    server: { ...unlisted.server, state: "down", notes: ["It is not answering."] },
    sent: undefined,
  }),
  "tool-confirm": confirmView(run),
  "tool-running": runView(run, progressView({ progress: 3, total: 10, message: "Third part" })),
  "tool-result": runView(run, outcomeView(result, 182, 4096)),
  "tool-failed": runView(run, outcomeView({ isError: true, content: [] }, 1, 20)),
  "tool-error": runView(run, failureView("Upstream is not answering", -32603)),
  "tool-questions": runView(run, questionsView(run, questions)),
  "tool-hostile": runView(
    { ...run, values: { [HOSTILE]: HOSTILE } },
    outcomeView({ content: [{ type: "text", text: HOSTILE }, { type: HOSTILE }] }, 1, 2),
  ),
  "catalog-hostile": toolView({
    ...tool,
    server: { ...server.server, title: HOSTILE, notes: [HOSTILE] },
    tool: { ...tool.tool, name: HOSTILE, title: HOSTILE, description: HOSTILE },
    input: tool.input.map((row) => ({
      ...row,
      ...{ path: HOSTILE, type: HOSTILE, description: HOSTILE, rules: [HOSTILE] },
    })),
  }),
  activity: activityView(activity),
  "activity-everyones": activityView(everyones),
  "activity-of-one": activityView({
    ...everyones,
    ...{ filter: { person: "u_1", server: "gone", outcome: "error" }, personName: "Ann Archer" },
    ...{ isFirst: false, older: undefined },
  }),
  "activity-off": activityView({ ...activity, recorded: "off", rows: [], older: undefined }),
  "activity-own": activityView({ ...everyones, recorded: "own", mayChoose: false }),
  "activity-local": activityView({
    ...activity,
    nav: { current: "activity", isAdmin: true, isLocal: true },
    mayChoose: false,
  }),
  "activity-hostile": activityView({
    ...everyones,
    ...{ filter: { person: HOSTILE, name: HOSTILE, server: HOSTILE }, personName: HOSTILE },
    rows: everyones.rows.map((row) => ({
      ...row,
      ...{ person: { id: HOSTILE, name: HOSTILE }, client: HOSTILE, name: HOSTILE },
      ...{ server: HOSTILE, method: HOSTILE, outcome: HOSTILE, traceId: HOSTILE },
    })),
  }),
  usage: usageView(usage),
  "usage-own": usageView({ ...usage, recorded: "own", people: undefined }),
  "usage-empty": usageView({
    ...{ ...usage, recorded: "off", whole: NO_CALLS, servers: [], tools: [], people: [] },
    days: usage.days.map(({ day }) => ({ day, ...NO_CALLS })),
  }),
  "usage-hostile": usageView({
    ...usage,
    choice: { days: 90, server: HOSTILE, tool: HOSTILE, person: HOSTILE },
    personName: HOSTILE,
    servers: usage.servers.map((row) => ({ ...row, server: HOSTILE })),
    tools: usage.tools.map((row) => ({ ...row, server: HOSTILE, tool: HOSTILE })),
    people: [{ ...usage.whole, person: HOSTILE, name: HOSTILE }],
  }),
  "signed-out": signedOutView(),
  "signed-out-here": signedOutView({
    title: "Cloudflare Access",
    href: "https://acme.cloudflareaccess.com/cdn-cgi/access/logout",
  }),
  done: doneView("Claude Code is connected", "It has what it needs."),
  "not-found": notFoundView(),
};
