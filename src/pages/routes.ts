/** The route of every page and form that people see. */

import * as account from "./account-actions.ts";
import { createKey, revokeKey } from "./account-keys.ts";
import { showAccount } from "./account.ts";
import * as admin from "./admin-actions.ts";
import { createService, revokeService } from "./admin-services.ts";
import { showAdmin } from "./admin.ts";
import { answerAuthorize, showAuthorize, switchAccount } from "./authorize.ts";
import { showCallback } from "./callback.ts";
import type { Handler } from "./page-guard.ts";
import { answerLogin, showLogin } from "./login.ts";
import { showLogins } from "./logins.ts";
import { signOut } from "./logout.ts";
import { finishSetup, showSetup } from "./setup.ts";
import { PATHS } from "./view/paths.ts";

type Route = readonly [method: "GET" | "POST", path: string, handler: Handler];

export const PAGES: readonly Route[] = [
  ["GET", PATHS.authorize, showAuthorize],
  ["POST", PATHS.authorize, answerAuthorize],
  ["POST", PATHS.authorizeAsOther, switchAccount],
  ["GET", PATHS.login, showLogin],
  ["POST", PATHS.login, answerLogin],
  ["GET", "/callback/:provider", showCallback],
  ["GET", PATHS.setup, showSetup],
  ["POST", PATHS.setup, finishSetup],

  ["GET", PATHS.account, showAccount],
  ["POST", PATHS.revokeConnection, account.revokeConnection],
  ["POST", PATHS.forgetApproval, account.forgetApproval],
  ["POST", PATHS.endSession, account.endBrowserSession],
  ["POST", PATHS.createKey, createKey],
  ["POST", PATHS.revokeKey, revokeKey],
  ["POST", PATHS.revokeAll, account.revokeAll],
  ["GET", PATHS.logout, signOut],
  ["POST", PATHS.logout, signOut],

  ["GET", PATHS.admin, showAdmin],
  ["POST", PATHS.disableUser, admin.disableUser],
  ["POST", PATHS.enableUser, admin.enableUser],
  ["POST", PATHS.deleteClient, admin.deleteClient],
  ["POST", PATHS.createService, createService],
  ["POST", PATHS.revokeService, revokeService],
  ["GET", PATHS.logins, showLogins],
  ["GET", `${PATHS.logins}/:reference`, showLogins],
];
