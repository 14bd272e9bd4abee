/** The `Feeds` port over a Durable Object namespace. */

import type { Feeds } from "../src/catalog/feeds.ts";
import { count } from "../src/observability/costs.ts";
import type { FeedObject } from "./feed-object.ts";

/** All users share the operator's credentials, so there is one feed for each server. */
const SHARED = "shared";

export function feedName(slug: string): string {
  return `${SHARED} ${slug}`;
}

export function feedsIn(namespace: DurableObjectNamespace<FeedObject>): Feeds {
  return {
    of(slug) {
      /** A stub that has failed stays failed, so each call has its own. */
      const stub = (): DurableObjectStub<FeedObject> => {
        count("objectRequests");
        return namespace.get(namespace.idFromName(feedName(slug)));
      };
      return {
        catalog: (question) => stub().catalog(slug, question),
        watch: (branch, change) => stub().watch(slug, branch, change),
        report: (trouble) => stub().report(slug, trouble),
        health: () => stub().health(slug),
        resources: () => stub().resources(),
      };
    },
  };
}
