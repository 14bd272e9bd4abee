/** The part of `/account` about the servers that a person publishes, and the form that ends one. */

import { slugOfPublished } from "../protocol/publishing.ts";
import type { Publishers } from "../publishing/publisher.ts";
import type { AuditEvent } from "../observability/audit.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import type { SiteContext } from "./account-context.ts";
import { audited, done, type Handler, type Notice, submitted } from "./page-guard.ts";
import { notFound } from "./respond.ts";
import type { PublishedServerRow } from "./view/published-view.ts";
import { PATHS } from "./view/paths.ts";

/**
 * @returns nothing while publishing is off, and of people who publish nothing: nobody is asked about those.
 *   `undefined` where it could not be asked.
 */
export async function ownPublished(
  { publishers }: Pick<SiteContext, "publishers">,
  user: { readonly id: string; readonly publishes?: boolean },
): Promise<readonly PublishedServerRow[] | undefined> {
  if (publishers === undefined || user.publishes !== true) return [];
  const list = await publishers
    .of(user.id)
    .list()
    .catch((error: unknown) => {
      logUnexpected(error); // the object restarts
      return undefined;
    });
  if (list === undefined) return undefined;
  const { servers, paused } = list;
  return [
    ...servers.map((server) => ({ ...server, isPaused: false })),
    ...paused.map((server) => ({ ...server, isPaused: true })),
  ]
    .map((server) => ({ ...server, slug: slugOfPublished(server.name) }))
    .toSorted((one, other) => (one.slug < other.slug ? -1 : 1));
}

type Change = (publisher: ReturnType<Publishers["of"]>, name: string) => Promise<boolean>;

/** The form about one server. @param change answers `false` where there is none of that name. */
function publishedForm(change: Change, event: AuditEvent, notice: Notice): Handler {
  return submitted({ path: PATHS.account }, async (context, { who, form }, request) => {
    const { id: user } = who.user;
    const name = form.get("id") ?? "";
    const { publishers } = context;
    if (publishers === undefined || !(await change(publishers.of(user), name))) {
      return notFound(context);
    }
    await audited(context, request, user, event, { server: slugOfPublished(name) });
    return done(context, PATHS.account, notice);
  });
}

export const endPublished = publishedForm(
  (publisher, name) => publisher.end(name),
  "published_ended",
  "published-ended",
);

export const pausePublished = publishedForm(
  (publisher, name) => publisher.setPaused(name, true),
  "published_paused",
  "published-paused",
);

export const resumePublished = publishedForm(
  (publisher, name) => publisher.setPaused(name, false),
  "published_resumed",
  "published-resumed",
);
