/** `/admin/servers`: all servers, and the way of new ones in: pasted, shown, and kept as drafts. */

import { signInPath } from "../auth/sign-in/browser.ts";
import type { AddedServer } from "../observability/added-servers.ts";
import type { Candidate, Left } from "../observability/pasted-servers.ts";
import { type FilledIn, filledIn, isKeptAs } from "./operator/fill-in.ts";
import type { NewServer } from "./operator/server-registry.ts";
import {
  adminNav,
  operatedFreshly,
  operating,
  type OperatorSubmission,
  type OperatorVisit,
  PASTE_BYTES,
} from "./operator-visit.ts";
import { done, noticeOf } from "./page-guard.ts";
import { auditedAs, respondTo } from "./page-visitor.ts";
import { probeAdded } from "./added-server.ts";
import { refusalOf } from "./refused-change.ts";
import { adminServersView } from "./view/admin-servers-view.ts";
import { candidatesView } from "./view/candidates-view.ts";
import { exportView } from "./view/export-view.ts";
import { adminServerPath, PATHS } from "./view/paths.ts";

const toList = (): string => PATHS.adminServers;

export const showServers = operating((visit) => serversPage(visit));

async function serversPage(visit: OperatorVisit, mistake?: string): Promise<Response> {
  const { context, visitor, request } = visit;
  const { servers } = context;
  const [health, { servers: added }, nav] = await Promise.all([
    servers.health(),
    servers.added.all(),
    adminNav(visit),
  ]);
  const view = adminServersView({
    ...{ now: Date.now(), csrf: visitor.formToken, nav },
    allowsLoopback: servers.added.allowsLoopback,
    overridden: added.map(({ slug }) => slug).filter((slug) => servers.added.isConfigured(slug)),
    ...{ health, added, notices: servers.notices, mistake, notice: noticeOf(request) },
    // What is pasted and typed would be lost on the way to a new sign-in.
    signIn: visitor.isFreshForForm ? undefined : signInPath(PATHS.adminServers, true),
  });
  return respondTo(visit, view, { status: mistake === undefined ? 200 : 400 });
}

/** Shows what would be added. Nothing is stored, and no request is sent. */
export const readServers = operatedFreshly(
  toList,
  async (visit) => {
    const { context, form } = visit;
    const text = form.get("text") ?? "";
    const pasted = context.servers.added.read(text);
    if (pasted.kind === "mistake") return serversPage(visit, pasted.sentence);
    return candidatesPage(visit, text);
  },
  PASTE_BYTES,
);

async function candidatesPage(
  visit: OperatorVisit,
  text: string,
  filled?: readonly FilledIn[],
  mistake?: string,
): Promise<Response> {
  const { context, visitor } = visit;
  const { added } = context.servers;
  const pasted = added.read(text);
  const items = pasted.kind === "read" ? pasted.items : [];
  const view = candidatesView({
    ...{ csrf: visitor.formToken, nav: await adminNav(visit) },
    ...{ items, filled, mistake, sealed: await added.sealPasted(visitor.person, text) },
  });
  return respondTo(visit, view, { status: filled === undefined ? 200 : 400 });
}

export const addServers = operatedFreshly(
  toList,
  async (visit) => {
    const { context, request, visitor, form } = visit;
    const { added } = context.servers;
    const text = await added.openPasted(visitor.person, form.get("pasted") ?? "");
    const pasted = text === undefined ? undefined : added.read(text);
    if (text === undefined || pasted?.kind !== "read") return serversPage(visit, OUTDATED);
    const filled = await filledInBy(visit, pasted.items);
    const ready = filled.filter(({ isChosen }) => isChosen);
    if (ready.length === 0) return candidatesPage(visit, text, filled, "No server was chosen.");
    if (ready.some(({ mistakes }) => mistakes.length > 0)) {
      return candidatesPage(visit, text, filled);
    }
    const missing = ready.filter(({ isKept }) => !isKept);
    const outcome = await added.add(missing.map((each) => draftOf(each, visitor.person)));
    const refusal = outcome.kind === "clash" ? TAKEN : refusalOf(outcome);
    if (refusal !== undefined) {
      // None of them was added, so all of them are shown again.
      const of = filled.map((one) => {
        const isIt =
          one.isChosen && (one.entry.slug === outcome.slug || outcome.slug === undefined);
        return isIt ? { ...one, mistakes: [refusal] } : one;
      });
      return candidatesPage(visit, text, of);
    }
    for (const { entry } of missing) {
      await auditedAs(context, request, visitor, "server_added", { server: entry.slug });
    }
    const [{ entry: first }] = ready as [FilledIn];
    if (ready.length > 1) return done(context, PATHS.adminServers, "servers-added");
    await probeAdded(visit, first.slug);
    return done(context, adminServerPath(first.slug), "server-added");
  },
  PASTE_BYTES,
);

/** @returns each candidate as the form has it, with what is wrong with those that are chosen. */
async function filledInBy(
  { context, visitor, form }: OperatorSubmission,
  items: readonly (Candidate | Left)[],
): Promise<readonly FilledIn[]> {
  const { added } = context.servers;
  const { servers } = await added.all();
  const chosen = new Set(form.getAll("add"));
  const filled = await Promise.all(
    items
      .filter((item) => item.kind === "candidate")
      .map(async (candidate, n) => {
        const control = (name: string): string | undefined => form.get(`${name}-${n}`) ?? undefined;
        const one = filledIn(added, candidate, control);
        const isChosen = chosen.has(String(n));
        const known = servers.find(({ slug }) => slug === one.entry.slug);
        const isKept = isChosen && (await isKeptAs(added, known, one.entry, visitor.person));
        return { ...one, isChosen, isKept };
      }),
  );
  const kept = new Set(filled.flatMap(({ isKept, entry }) => (isKept ? [entry.slug] : [])));
  const taken = new Set(servers.map(({ slug }) => slug).filter((slug) => !kept.has(slug)));
  return filled.map((one) => {
    if (!one.isChosen) return { ...one, mistakes: [] };
    const { slug } = one.entry;
    const clash = added.isConfigured(slug) ? CONFIGURED : taken.has(slug) ? TAKEN : undefined;
    taken.add(slug);
    if (clash !== undefined) return { ...one, mistakes: [...one.mistakes, clash] };
    return one.mistakes.length > 0 ? one : { ...one, mistakes: added.mistakesIn(one.entry) };
  });
}

const OUTDATED = "That page is out of date. Paste it again.";
const CONFIGURED = "MCP_SERVERS has a server of this slug already, which wins; choose another one.";
const TAKEN = "There is a server of this slug already; choose another one.";

function draftOf({ entry, candidate }: FilledIn, person: string): NewServer {
  const { slug, label, entry: table, secrets } = entry;
  const { provenance } = candidate;
  const server: AddedServer = {
    ...{ slug, state: "draft", entry: table, secretNames: Object.keys(secrets), provenance },
    ...(label !== undefined && { label }),
    ...{ changedBy: person, changedAt: Date.now() },
  };
  return { server, secrets };
}

/** The servers that were added, for whoever would rather have them in the configuration. */
export const exportServers = operating(async (visit) => {
  const { added } = visit.context.servers;
  const { servers } = await added.all();
  const view = exportView({ nav: await adminNav(visit), ...added.export(servers) });
  return respondTo(visit, view);
});
