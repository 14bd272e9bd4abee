/** `/admin/servers/<slug>`: one server as whoever runs the gateway sees it, the button that has it looked at, and its switch. */

import { attentionIn } from "./attention.ts";
import { gather } from "./attention-facts.ts";
import { type Names, namesOf } from "./people-names.ts";
import { TokenBuckets } from "../lib/token-bucket.ts";
import { operated, operating, readerOf } from "./operator-visit.ts";
import { done, noticeOf, signInAgain } from "./page-guard.ts";
import { auditedAs, navFor, respondTo } from "./page-visitor.ts";
import { notFound } from "./respond.ts";
import { serverTools } from "./server-tools.ts";
import { addedOf } from "./added-server.ts";
import { addedServerPart } from "./view/added-server-view.ts";
import { noticesOfEntries } from "./view/entry-notices.ts";
import { adminServerView } from "./view/admin-server-view.ts";
import { adminServerPath } from "./view/paths.ts";

export const showAdminServer = operating(async (visit) => {
  const { context, visitor, slug, request } = visit;
  const noticed = context.servers.notices.filter((notice) => notice.slug === slug);
  const [report, known, toggle, tools, added] = await Promise.all([
    context.servers.report(slug),
    gather(context, readerOf(visitor)),
    context.servers.switchOf(slug),
    context.servers.tools(slug, visitor.person),
    addedOf(visit, slug),
  ]);
  if (report === undefined && added === undefined && noticed.length === 0) return notFound(context);
  const names = await namesOf(context.auth, added === undefined ? [] : [added.changedBy]);
  const items = attentionIn(known);
  // Its health was looked at for the list; its conflicts are found among all servers.
  const health = known.servers.find((each) => each.slug === slug);
  const server = report && { ...report, health: health ?? report.health };
  const toolNotice = noticeOf(request, "tool-");
  const isConfigured = context.servers.added.isConfigured(slug);
  const view = adminServerView({
    ...{ now: known.now, csrf: visitor.formToken, slug, server, toggle, isConfigured },
    notices: noticesOfEntries(noticed, new Set(server && [slug])),
    tools: serverTools(visit, tools, toggle),
    items: items.filter(({ link }) => link === adminServerPath(slug)),
    nav: navFor(visitor, "admin", items.length),
    notice: toolNotice === undefined ? noticeOf(request) : undefined,
    toolNotice,
    added:
      added &&
      addedServerPart({
        ...{
          now: known.now,
          csrf: visitor.formToken,
          ...{ added, isOverridden: isConfigured },
          hasSignIn: context.auth !== undefined,
        },
        changedBy: changedBy(added.changedBy, visitor.person, names),
      }),
    label: isConfigured ? undefined : added?.label,
  });
  return respondTo(visit, view);
});

function changedBy(person: string, reader: string, names: Names): string {
  return person === reader ? "you" : (names.get(person) ?? person);
}

/** Switches a server off, or on again: what others use ends, so a new sign-in is needed. */
export const switchServer = operated(adminServerPath, async (visit) => {
  const { context, request, visitor, slug, form } = visit;
  const { servers } = context;
  const isKnown = servers.notices.some((notice) => notice.slug === slug);
  if (!isKnown && (await servers.report(slug)) === undefined) return notFound(context);
  const path = adminServerPath(slug);
  if (!visitor.isFresh) return signInAgain(context, path);
  const isOff = form.get("to") === "off";
  const outcome = await servers.putSwitch(slug, { isOff }, Number(form.get("revision")));
  if (outcome === "full") return done(context, path, "server-switches-full");
  if (outcome === "changed") {
    const event = isOff ? "server_switched_off" : "server_switched_on";
    await auditedAs(context, request, visitor, event, { server: slug });
  } else if ((await servers.switchOf(slug)).isOff !== isOff) {
    return done(context, path, "server-changed-elsewhere");
  }
  return done(context, path, isOff ? "server-off" : "server-on");
});

/** Each look is a request to the server, and one every few seconds tells as much as many. */
const CHECKS_PER_MINUTE = 12;
const MAX_PEOPLE = 1000;
const checks = new TokenBuckets(MAX_PEOPLE);

export const checkServer = operated(adminServerPath, async (visit) => {
  const { context, request, visitor, slug } = visit;
  if ((await context.servers.report(slug)) === undefined) return notFound(context);
  const isAllowed = checks.of(visitor.person, CHECKS_PER_MINUTE).take();
  if (isAllowed) await context.servers.look(slug);
  await auditedAs(context, request, visitor, isAllowed ? "server_checked" : "denied", {
    server: slug,
    ...(!isAllowed && { reason: "too many checks" }),
  });
  return done(
    context,
    adminServerPath(slug),
    isAllowed ? "server-checked" : "server-checked-often",
  );
});
