/**
 * `/admin/servers/<slug>/edit`: changes a server that an operator has added. The form is read, what would change is
 * shown with a look at the server as it would be, and kept after that.
 */

import { signInPath } from "../auth/sign-in/browser.ts";
import { cleanText } from "../lib/clean-text.ts";
import type { AddedServer, ProbeReport, Revised } from "../observability/added-servers.ts";
import type { Edited, ServerEdit } from "../observability/edited-servers.ts";
import type { OperatorContext } from "./account-context.ts";
import { aboutAdded, addedOf, changing, isProbeAllowed } from "./added-server.ts";
import {
  type CarriedEdit,
  carriedEdit,
  carriedText,
  EDITED_AUTHS,
  readEdit,
} from "./operator/edit-form.ts";
import type { ServerRegistry } from "./operator/server-registry.ts";
import {
  adminNav,
  operating,
  type OperatorSubmission,
  type OperatorVisit,
  PASTE_BYTES,
} from "./operator-visit.ts";
import { done } from "./page-guard.ts";
import { auditedAs, respondTo } from "./page-visitor.ts";
import { refusalOf } from "./refused-change.ts";
import { notFound, seeOther } from "./respond.ts";
import { editReviewView } from "./view/edit-review-view.ts";
import { editServerView } from "./view/edit-server-view.ts";
import { addedServerPath, adminServerPath } from "./view/paths.ts";

type Added = Revised<AddedServer>;

/** The form takes a new sign-in before it is filled in: secrets that were typed would be lost on the way there. */
export const showEdit = operating(async (visit) => {
  const { context, visitor, slug } = visit;
  const server = await addedOf(visit, slug);
  if (server === undefined) return notFound(context);
  if (!visitor.isFreshForForm) {
    return seeOther(signInPath(addedServerPath(slug, "edit"), true), context);
  }
  return formPage(visit, server);
});

/** @param entered in the form before, to be shown again as far as it is no secret. */
async function formPage(
  visit: OperatorVisit,
  server: Added,
  entered?: { readonly edit: ServerEdit; readonly mistakes: readonly string[] },
): Promise<Response> {
  const { context, visitor } = visit;
  const { added } = context.servers;
  const { mistakes = [] } = entered ?? {};
  const view = editServerView({
    ...{ csrf: visitor.formToken, nav: await adminNav(visit), server },
    editable: added.editable(server.entry),
    auths: context.auth === undefined ? [] : EDITED_AUTHS,
    allowsLoopback: added.allowsLoopback,
    typed: entered && withSecrecy(added, entered.edit),
    mistakes,
  });
  return respondTo(visit, view, { status: mistakes.length === 0 ? 200 : 400 });
}

/** A header that looks like a secret is kept as one, whatever the form says of it. */
function withSecrecy(added: ServerRegistry, edit: ServerEdit): ServerEdit {
  const { newHeader } = edit;
  if (newHeader === undefined) return edit;
  const isSecret = newHeader.isSecret || added.isSecret(newHeader.name, newHeader.value);
  return { ...edit, newHeader: { ...newHeader, isSecret } };
}

type Outcome = Extract<Edited, { readonly kind: "edited" }>;

/** @returns what an edit comes to, or the form with its mistakes. */
async function outcomeOf(
  visit: OperatorVisit,
  server: Added,
  edit: ServerEdit,
): Promise<Outcome | Response> {
  const { added } = visit.context.servers;
  const outcome = await added.edit(server, asKept(edit));
  if (outcome.kind === "mistakes") {
    return formPage(visit, server, { edit, mistakes: outcome.sentences });
  }
  if (outcome.differences.length > 0) return outcome;
  return formPage(visit, server, { edit, mistakes: ["Nothing is different from what there is."] });
}

const MAX_LABEL = 60;

function asKept(edit: ServerEdit): ServerEdit {
  return { ...edit, label: cleanText(edit.label, MAX_LABEL) };
}

export const reviewEdit = changing(async (submission, server) => {
  const { context, visitor, form } = submission;
  const { added } = context.servers;
  const edit = readEdit(form, added.editable(server.entry));
  const outcome = await outcomeOf(submission, server, edit);
  if (outcome instanceof Response) return outcome;
  const { slug, revision } = server;
  const probe = outcome.reach === "same" ? undefined : await look(submission, server, outcome);
  const isEnded = outcome.reach === "moved" && server.state !== "draft";
  const text = carriedText({ slug, revision, edit, probe, isEnded });
  const view = editReviewView({
    ...{ now: Date.now(), csrf: visitor.formToken, nav: await adminNav(submission), server },
    ...{ outcome, probe, hasSignIn: context.auth !== undefined },
    ...{ sealed: await added.sealPasted(visitor.person, text) },
  });
  return respondTo(submission, view);
}, PASTE_BYTES);

/** Looks at the server as it would be. @returns `undefined` where that was done too often. */
async function look(
  submission: OperatorSubmission,
  server: Added,
  outcome: Outcome,
): Promise<ProbeReport | undefined> {
  if (!(await isProbeAllowed(submission, server.slug))) return undefined;
  const changed = { ...server, entry: outcome.entry };
  return submission.context.servers.added.probe(changed, outcome.secrets);
}

/** Keeps an edit, or shows it in the form again. A second click finds it kept, as it was asked. */
export const keepEdit = aboutAdded(async (submission, server) => {
  const { context, request, visitor, form } = submission;
  const { added } = context.servers;
  const { slug, revision } = server;
  const text = await added.openPasted(visitor.person, form.get("edit") ?? "");
  const carried = carriedEdit(text, { slug, revision: Number(form.get("revision")) });
  if (carried === undefined) return done(context, adminServerPath(slug), "server-edit-outdated");
  if (carried.revision !== revision) {
    const isDone = await isKept(submission, carried);
    return isDone ? kept(context, carried) : done(context, adminServerPath(slug), CHANGED);
  }
  const { edit, probe } = carried;
  if (form.has("again")) return formPage(submission, server, { edit, mistakes: [] });
  const outcome = await outcomeOf(submission, server, edit);
  if (outcome instanceof Response) return outcome;
  const found = outcome.reach === "same" ? server.probe : probe;
  const changed = changedServer(server, outcome, visitor.person, found);
  const put = await added.put(changed, revision, outcome.secrets);
  if (put.kind === "clash" && (await isKept(submission, carried))) return kept(context, carried);
  const refusal = refusalOf(put);
  if (refusal !== undefined) return formPage(submission, server, { edit, mistakes: [refusal] });
  await auditedAs(context, request, visitor, "server_edited", { server: slug });
  return kept(context, carried);
}, PASTE_BYTES);

const CHANGED = "server-changed-elsewhere";

/** True where this person has changed the server last, and it is as their edit asks. */
async function isKept(submission: OperatorSubmission, { edit }: CarriedEdit): Promise<boolean> {
  const { context, visitor, slug } = submission;
  const now = await addedOf(submission, slug);
  if (now === undefined || now.changedBy !== visitor.person) return false;
  return context.servers.added.isEdited(now, asKept(edit));
}

function kept(context: OperatorContext, { slug, isEnded }: CarriedEdit): Response {
  return done(context, adminServerPath(slug), isEnded ? "server-moved" : "server-edited");
}

/**
 * At another origin it is another server under the same name: nobody is sent there before an operator has it served
 * again. At the same one it goes on: a token that has to be replaced must not take a server away.
 */
function changedServer(
  server: Added,
  { label, entry, secrets, reach }: Outcome,
  person: string,
  probe: ProbeReport | undefined,
): AddedServer {
  const { slug, provenance } = server;
  return {
    ...{ slug, entry, provenance, secretNames: Object.keys(secrets) },
    ...(label !== undefined && { label }),
    ...(probe !== undefined && { probe }),
    state: reach === "moved" ? "draft" : server.state,
    ...{ changedBy: person, changedAt: Date.now() },
  };
}
