/** `/setup`: the owner of a new gateway gets a code, with a link that works once. */

import { isForeign, readForm } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { page } from "./respond.ts";
import { problemPage } from "./sign-in-answers.ts";
import { PATHS } from "./view/paths.ts";
import { setupDoneView, setupView } from "./view/setup-view.ts";

export async function showSetup(context: AuthContext, request: Request): Promise<Response> {
  const token = new URL(request.url).searchParams.get("token") ?? "";
  if (!(await context.setup().isSetupToken(token)))
    return problemPage(context, { problem: "setup-gone" });
  return page(setupView({ action: PATHS.setup, handle: token }), context);
}

/** Accepts the handle from the link: the person who has it is the owner. */
export async function finishSetup(context: AuthContext, request: Request): Promise<Response> {
  if (isForeign(request, context.origin)) return problemPage(context, { problem: "foreign-form" });
  const form = await readForm(request);
  if (form === undefined) return problemPage(context, { problem: "no-form" });
  const code = await context.setup().finishSetup(form.get("handle") ?? "");
  if (code === undefined) return problemPage(context, { problem: "setup-gone" });
  return page(setupDoneView({ code }), context);
}
