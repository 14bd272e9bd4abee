/** The part of `/account` about the servers that a person publishes, and the form that ends one. */

import { slugOfPublished } from "../protocol/publishing.ts";
import { NOTHING_PUBLISHED } from "../publishing/publisher.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import type { SiteContext } from "./account-context.ts";
import { audited, done, submitted } from "./page-guard.ts";
import { notFound } from "./respond.ts";
import type { PublishedServerRow } from "./view/published-view.ts";
import { PATHS } from "./view/paths.ts";

/** @returns nothing while publishing is off, and of people who publish nothing: nobody is asked about those. */
export async function ownPublished(
  { publishers }: Pick<SiteContext, "publishers">,
  user: { readonly id: string; readonly publishes?: boolean },
): Promise<readonly PublishedServerRow[]> {
  if (publishers === undefined || user.publishes !== true) return [];
  const { servers } = await publishers
    .of(user.id)
    .list()
    .catch((error: unknown) => {
      logUnexpected(error); // the object restarts
      return NOTHING_PUBLISHED;
    });
  return servers.map((server) => ({ ...server, slug: slugOfPublished(server.name) }));
}

export const endPublished = submitted(
  { path: PATHS.account },
  async (context, { who, form }, request) => {
    const { id: user } = who.user;
    const name = form.get("id") ?? "";
    const wasThere = (await context.publishers?.of(user).end(name)) === true;
    if (!wasThere) return notFound(context);
    await audited(context, request, user, "published_ended", { server: slugOfPublished(name) });
    return done(context, PATHS.account, "published-ended");
  },
);
