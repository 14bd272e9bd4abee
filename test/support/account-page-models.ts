/** A model like a real one for each page about accounts at servers. */

import type { ShownAccount } from "../../src/pages/view/account-parts.ts";
import type { AccountProblemView } from "../../src/pages/view/account-problem-view.ts";
import type { AccountServerRow, OwnAccountRow } from "../../src/pages/view/accounts-view.ts";
import type { ConnectedView } from "../../src/pages/view/connected-view.ts";
import type { AccountPage, ConnectAccountView } from "../../src/pages/view/connect-account-view.ts";

const NOW = Date.UTC(2026, 10, 21, 15, 30);
const DAY = 86_400_000;

const account: ShownAccount = {
  state: "connected",
  issuerHost: "github.com",
  keyEnd: undefined,
  granted: ["repo", "read:org"],
  connectedAt: NOW - 12 * DAY,
  usedAt: NOW - DAY,
  trouble: undefined,
  connectedBy: undefined,
};

const page: AccountPage = {
  now: NOW,
  csrf: "c".repeat(43),
  server: {
    slug: "github",
    label: "GitHub",
    host: "api.githubcopilot.com",
    help: "Sign in with your account of the company.",
  },
  person: "ada@example.com",
  isAdmin: false,
  isShared: false,
  account,
};

const signIn: ConnectAccountView & { readonly way: { readonly kind: "oauth" } } = {
  ...page,
  way: {
    kind: "oauth",
    host: "github.com",
    issuerHost: "login.example.com",
    scopes: ["repo", "read:org", "offline_access"],
    canRegisterAnew: true,
  },
  ask: "a".repeat(43),
  notice: "The account is disconnected.",
};

const key: ConnectAccountView = {
  ...page,
  server: { slug: "stripe", label: "Stripe", host: "mcp.stripe.com", help: undefined },
  account: {
    ...account,
    ...{ state: "needs-connect", issuerHost: undefined, keyEnd: "x9Zq", granted: [] },
    trouble: "The server does not accept what it was sent for this account any more.",
  },
  way: { kind: "key", error: undefined },
  ask: undefined,
  notice: undefined,
};

const connected: ConnectedView = { ...page, account, missing: ["workflow", "delete_repo"] };

const problem: AccountProblemView = {
  ...page,
  title: "The sign-in service does not know this gateway",
  whatHappened: "It does not register applications by itself, so somebody has to do it once.",
  whatToDo: ["Tell whoever runs this gateway."],
  again: undefined,
  operator: {
    sentence: "Register the redirect URI there, and enter `clientId` and `issuer`.",
    table: "MCP_SERVERS.github.oauth",
    redirectUri: "https://mcp.example.com/oauth/upstream/github/callback",
  },
};

const own: readonly OwnAccountRow[] = [
  { slug: "github", label: "GitHub", host: "api.githubcopilot.com", account },
  { slug: "stripe", label: "Stripe", host: "mcp.stripe.com", account: key.account },
  { slug: "linear", label: "Linear", host: "mcp.linear.app", account: undefined },
  { slug: "old", label: "old", host: undefined, account: { ...account, state: "moved" } },
];

const servers: readonly AccountServerRow[] = [
  {
    ...{ slug: "github", label: "GitHub", host: "api.githubcopilot.com", kind: "oauth" },
    redirectUri: "https://mcp.example.com/oauth/upstream/github/callback",
    shared: undefined,
    isSharedKnown: true,
    people: [
      { label: "ada@example.com", account },
      { label: "charles@example.com", account: { ...account, state: "needs-connect" } },
    ],
    notKnown: 112,
  },
  {
    ...{ slug: "wiki", label: "Wiki", host: "wiki.example.com", kind: "oauth-shared" },
    redirectUri: "https://mcp.example.com/oauth/upstream/wiki/callback",
    shared: { ...account, connectedBy: "ada@example.com" },
    ...{ isSharedKnown: true, people: [], notKnown: 0 },
  },
  {
    ...{ slug: "stripe", label: "Stripe", host: "mcp.stripe.com", kind: "key" },
    ...{ redirectUri: undefined, shared: undefined, isSharedKnown: true, people: [], notKnown: 0 },
  },
  {
    ...{ slug: "build", label: "Build", host: "build.example.com", kind: "client-credentials" },
    ...{ redirectUri: undefined, shared: undefined, isSharedKnown: true, people: [], notKnown: 0 },
  },
];

export const ACCOUNT_MODELS = { signIn, key, connected, problem, own, servers };
