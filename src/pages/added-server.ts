/** What can be done with one server that an operator has added: look at it, serve it, pause it, change it, remove it. */

import type { AddedServer, Revised } from "../observability/added-servers.ts";
import { TokenBuckets } from "../lib/token-bucket.ts";
import type { OperatorHandler, OperatorSubmission, OperatorVisit } from "./operator-visit.ts";
import { operatedFreshly } from "./operator-visit.ts";
import { done, refusal } from "./page-guard.ts";
import { auditedAs } from "./page-visitor.ts";
import { notFound } from "./respond.ts";
import { OVERRIDDEN } from "./view/admin-servers-view.ts";
import { adminServerPath, PATHS } from "./view/paths.ts";

type Added = Revised<AddedServer>;

/** @returns the server that was added under a slug. */
export async function addedOf(
  { context }: OperatorVisit,
  slug: string,
): Promise<Added | undefined> {
  const { servers } = await context.servers.added.all();
  return servers.find((each) => each.slug === slug);
}

/** Wraps the action of a form about a server that was added, unless an entry of `MCP_SERVERS` overrides that. */
export function aboutAdded(
  act: (submission: OperatorSubmission, server: Added) => Promise<Response>,
  maxBytes?: number,
): OperatorHandler {
  const known = async (submission: OperatorSubmission): Promise<Response> => {
    const { context, slug } = submission;
    const server = await addedOf(submission, slug);
    if (server === undefined) return notFound(context);
    if (!context.servers.added.isConfigured(slug)) return act(submission, server);
    return refusal(context, 409, {
      title: "Nothing was done",
      whatHappened: OVERRIDDEN,
      whatToDo: ["Go back, and load the page again."],
    });
  };
  return operatedFreshly(adminServerPath, known, maxBytes);
}

/** The same, if the server is still as the form shows it. */
export function changing(
  act: (submission: OperatorSubmission, server: Added) => Promise<Response>,
  maxBytes?: number,
): OperatorHandler {
  return aboutAdded((submission, server) => {
    const { context, slug, form } = submission;
    if (form.get("revision") === String(server.revision)) return act(submission, server);
    return Promise.resolve(done(context, adminServerPath(slug), "server-changed-elsewhere"));
  }, maxBytes);
}

/** Each look sends requests to the server, with its secrets. */
const PROBES_PER_MINUTE = 12;
const MAX_PEOPLE = 1000;
const probes = new TokenBuckets(MAX_PEOPLE);

/** Every look is in the audit log of its operator, and so is every one too many. */
export async function isProbeAllowed(
  { context, request, visitor }: OperatorVisit,
  slug: string,
): Promise<boolean> {
  const isAllowed = probes.of(visitor.person, PROBES_PER_MINUTE).take();
  await auditedAs(context, request, visitor, isAllowed ? "server_probed" : "denied", {
    server: slug,
    ...(!isAllowed && { reason: "too many checks" }),
  });
  return isAllowed;
}

/** Looks at a server that serves nobody yet, and keeps what was found. @returns whether it was looked at. */
export async function probeAdded(visit: OperatorVisit, slug: string): Promise<boolean> {
  const { context } = visit;
  const server = await addedOf(visit, slug);
  if (server === undefined || !(await isProbeAllowed(visit, slug))) return false;
  const { revision, ...rest } = server;
  const probe = await context.servers.added.probe(server);
  // Who has changed it meanwhile has asked for another server: what was found is not of that one.
  await context.servers.added.put({ ...rest, probe }, revision);
  return true;
}

/** Looks at what is there now, whatever the page showed: the look before has changed that page, too. */
export const probeServer = aboutAdded(async (submission, { slug }) => {
  const isDone = await probeAdded(submission, slug);
  return done(
    submission.context,
    adminServerPath(slug),
    isDone ? "server-checked" : "server-checked-often",
  );
});

/** Has a server served, or pauses it. A second click finds that done. */
export const setServerState = aboutAdded(async (submission, known) => {
  const { context, request, visitor, slug, form } = submission;
  const { revision: _, ...server } = known;
  const state = form.get("to") === "live" ? "live" : "paused";
  const changed = { ...server, state, changedBy: visitor.person, changedAt: Date.now() } as const;
  const outcome = await context.servers.added.put(changed, Number(form.get("revision")));
  const path = adminServerPath(slug);
  if (outcome.kind === "changed") {
    const event = state === "live" ? "server_served" : "server_paused";
    await auditedAs(context, request, visitor, event, { server: slug });
  } else if ((await addedOf(submission, slug))?.state !== state) {
    return done(context, path, "server-changed-elsewhere");
  }
  return done(context, path, state === "live" ? "server-live" : "server-paused");
});

/** A second click finds no server, as it was asked. */
export const removeServer = operatedFreshly(adminServerPath, async (submission) => {
  const { context, request, visitor, slug, form } = submission;
  const outcome = await context.servers.added.remove(slug, Number(form.get("revision")));
  if (outcome.kind === "changed") {
    await auditedAs(context, request, visitor, "server_removed", { server: slug });
  } else if ((await addedOf(submission, slug)) !== undefined) {
    return done(context, adminServerPath(slug), "server-changed-elsewhere");
  }
  return done(context, PATHS.adminServers, "server-removed");
});
