/**
 * The actions of the forms of `/account`. Anything that is not the person's own does not exist for
 * them (404).
 */

import { NO_SESSION_COOKIE } from "../auth/sign-in/browser.ts";
import { audited } from "./audited.ts";
import { submitted } from "./page-guard.ts";
import { done } from "./page-notices.ts";
import { notFound } from "./page-refusals.ts";
import { page, seeOther } from "./respond.ts";
import { doneView } from "./view/ends.ts";
import { PATHS } from "./view/paths.ts";

const ACCOUNT = { path: PATHS.account };

export const revokeConnection = submitted(
  ACCOUNT,
  async (context, { who: { user }, form }, request) => {
    const id = form.get("id") ?? "";
    const shard = context.store.ofUser(user.id);
    const grant = await shard.grants.find(user.id, id);
    if (grant === undefined || !(await shard.endGrant(user.id, id))) return notFound(context);
    await audited(context, request, user.id, ["grant_revoked", { application: grant.name }]);
    return done(context.origin, PATHS.account, "connection-revoked");
  },
);

export const forgetApproval = submitted(
  ACCOUNT,
  async (context, { who: { user }, form }, request) => {
    const client = form.get("id") ?? "";
    const shard = context.store.ofUser(user.id);
    const approval = (await shard.approvals.list(user.id)).find((each) => each.client === client);
    if (approval === undefined) return notFound(context);
    await shard.approvals.forget(user.id, client);
    await audited(context, request, user.id, [
      "approval_forgotten",
      { application: approval.name },
    ]);
    return done(context.origin, PATHS.account, "approval-forgotten");
  },
);

export const endBrowserSession = submitted(
  ACCOUNT,
  async (context, { who: { user, session }, form }, request) => {
    const id = form.get("id") ?? "";
    const shard = context.store.ofUser(user.id);
    if (!(await shard.sessions.endById(user.id, id))) return notFound(context);
    await audited(context, request, user.id, ["session_ended"]);
    if (id !== session.id) return done(context.origin, PATHS.account, "session-ended");
    const headers = new Headers({ "Set-Cookie": NO_SESSION_COOKIE });
    return seeOther(PATHS.account, { origin: context.origin, headers });
  },
);

export const revokeAll = submitted(
  { ...ACCOUNT, isFresh: true },
  async (context, { who }, request) => {
    const { id } = who.user;
    await context.store.ofUser(id).revokeEverything(id);
    await audited(context, request, id, ["everything_revoked"]);
    const view = doneView({
      title: "Everything is revoked",
      sentence: "Every application, key and browser of yours has to sign in again, this one too.",
    });
    const headers = new Headers({ "Set-Cookie": NO_SESSION_COOKIE });
    return page(view, { origin: context.origin, headers });
  },
);
