/** The route of every page and form that people see. */

import { finishConnect } from "./account-callback.ts";
import type { AccountHandler } from "./account-visit.ts";
import { showActivity } from "./activity.ts";
import type { ActivityHandler } from "./activity-visit.ts";
import * as account from "./account.ts";
import { probeServer, removeServer, setServerState } from "./added-server.ts";
import * as admin from "./admin.ts";
import { addServers, exportServers, readServers, showServers } from "./admin-servers.ts";
import { checkServer, showAdminServer, switchServer } from "./admin-server.ts";
import { showAttention } from "./attention-json.ts";
import type { CatalogHandler } from "./catalog-visit.ts";
import { showCatalog, showServer } from "./catalog.ts";
import { beginConnect, disconnectAccount, showConnectAccount } from "./connect-account.ts";
import { keepEdit, reviewEdit, showEdit } from "./edit-server.ts";
import { watchActivity } from "./live-activity.ts";
import { showLogins } from "./logins.ts";
import type { OperatorHandler } from "./operator-visit.ts";
import type { Handler } from "./page-guard.ts";
import { endPublished, pausePublished, resumePublished } from "./published.ts";
import { denyTool } from "./server-tools.ts";
import * as signIn from "./sign-in.ts";
import { runTool, showTool } from "./tool.ts";
import { downloadUsage, showUsage } from "./usage.ts";
import { PATHS } from "./view/paths.ts";

type Route = readonly [method: "GET" | "POST", path: string, handler: Handler];

export const PAGES: readonly Route[] = [
  ["GET", PATHS.authorize, signIn.showAuthorize],
  ["POST", PATHS.authorize, signIn.answerAuthorize],
  ["POST", PATHS.authorizeAsOther, signIn.switchAccount],
  ["GET", PATHS.login, signIn.showLogin],
  ["POST", PATHS.login, signIn.answerLogin],
  ["GET", "/callback/:provider", signIn.showCallback],
  ["GET", PATHS.setup, signIn.showSetup],
  ["POST", PATHS.setup, signIn.finishSetup],
  ["GET", PATHS.logout, signIn.signOut],
  ["POST", PATHS.logout, signIn.signOut],

  ["GET", PATHS.account, account.showAccount],
  ["POST", PATHS.revokeConnection, account.revokeConnection],
  ["POST", PATHS.forgetApproval, account.forgetApproval],
  ["POST", PATHS.endSession, account.endBrowserSession],
  ["POST", PATHS.createKey, account.createKey],
  ["POST", PATHS.revokeKey, account.revokeKey],
  ["POST", PATHS.endPublished, endPublished],
  ["POST", PATHS.pausePublished, pausePublished],
  ["POST", PATHS.resumePublished, resumePublished],
  ["POST", PATHS.revokeAll, account.revokeAll],

  ["POST", PATHS.disableUser, admin.disableUser],
  ["POST", PATHS.enableUser, admin.enableUser],
  ["POST", PATHS.deleteClient, admin.deleteClient],
  ["POST", PATHS.createService, admin.createService],
  ["POST", PATHS.revokeService, admin.revokeService],
  ["GET", PATHS.logins, showLogins],
  ["GET", `${PATHS.logins}/:reference`, showLogins],
];

type OperatorRoute = readonly [method: "GET" | "POST", path: string, handler: OperatorHandler];

/** Those of whoever runs the gateway that exist without sign-in, too. */
export const OPERATOR_PAGES: readonly OperatorRoute[] = [
  ["GET", PATHS.admin, admin.showAdmin],
  ["POST", PATHS.sealAccounts, admin.sealAccounts],
  ["GET", PATHS.attentionJson, showAttention],
  ["GET", PATHS.exportServers, exportServers],
  ["GET", PATHS.adminServers, showServers],
  ["POST", PATHS.adminServers, readServers],
  ["POST", PATHS.addServers, addServers],
  ["GET", `${PATHS.admin}/servers/:slug`, showAdminServer],
  ["POST", `${PATHS.admin}/servers/:slug/check`, checkServer],
  ["POST", `${PATHS.admin}/servers/:slug/switch`, switchServer],
  ["POST", `${PATHS.admin}/servers/:slug/tools`, denyTool],
  ["POST", `${PATHS.adminServers}/:slug/probe`, probeServer],
  ["POST", `${PATHS.adminServers}/:slug/state`, setServerState],
  ["GET", `${PATHS.adminServers}/:slug/edit`, showEdit],
  ["POST", `${PATHS.adminServers}/:slug/edit`, reviewEdit],
  ["POST", `${PATHS.adminServers}/:slug/edit/keep`, keepEdit],
  ["POST", `${PATHS.adminServers}/:slug/remove`, removeServer],
];

type AccountRoute = readonly [method: "GET" | "POST", path: string, handler: AccountHandler];

/** Those of an account at one server, which `src/accounts/addresses.ts` gives out. */
export const ACCOUNT_PAGES: readonly AccountRoute[] = [
  ["GET", "/connect/:slug", showConnectAccount],
  ["POST", "/connect/:slug", beginConnect],
  ["POST", "/connect/:slug/disconnect", disconnectAccount],
  ["GET", "/oauth/upstream/:slug/callback", finishConnect],
];

type CatalogRoute = readonly [method: "GET" | "POST", path: string, handler: CatalogHandler];

/** Those of what there is behind the gateway. */
export const CATALOG_PAGES: readonly CatalogRoute[] = [
  ["GET", PATHS.catalog, showCatalog],
  ["GET", `${PATHS.catalog}/:slug`, showServer],
  ["GET", `${PATHS.catalog}/:slug/:tool`, showTool],
  ["POST", `${PATHS.catalog}/:slug/:tool`, runTool],
];

type ActivityRoute = readonly [method: "GET", path: string, handler: ActivityHandler];

/** Those of what happened. */
export const ACTIVITY_PAGES: readonly ActivityRoute[] = [
  ["GET", PATHS.activity, showActivity],
  ["GET", PATHS.liveActivity, watchActivity],
  ["GET", PATHS.usage, showUsage],
  ["GET", PATHS.usageCsv, downloadUsage],
];
