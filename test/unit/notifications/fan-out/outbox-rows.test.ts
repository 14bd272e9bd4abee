/** The rows of the two outboxes of a branch: they keep the promises of every outbox, and outlive it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { News, Topic } from "../../../../src/catalog/feeds.ts";
import type { Sql } from "../../../../src/lib/sql.ts";
import { LateNews } from "../../../../src/notifications/fan-out/late-news.ts";
import {
  Kind,
  SubscriptionTable,
} from "../../../../src/notifications/fan-out/subscription-table.ts";
import { UnsentChanges } from "../../../../src/notifications/fan-out/unsent-changes.ts";
import { outboxProperty } from "../../lib/outbox-suite.ts";
import { withSql } from "../../lib/sql-fixture.ts";

const RUNS = { numRuns: 200 };

/** The database as one life of the branch sees it: nothing that it writes after its end counts. */
function ofLife(sql: Sql, isOver: () => boolean): Sql {
  return { exec: (query, ...bindings) => (isOver() ? [] : sql.exec(query, ...bindings)) };
}

describe("news that a session has not taken", () => {
  test("is delivered, in order, and not again, whatever happens", async ({ expect }) => {
    await withSql(async ({ sql }) => {
      let seq = 0;
      await fc.assert(
        outboxProperty(
          (clock, isOver) => {
            const own = ofLife(sql, isOver);
            const subscriptions = new SubscriptionTable(own);
            const rows = new LateNews(own, () => clock.now);
            return {
              rows,
              append(session, item) {
                const topic: Topic = `uri:${item}`;
                subscriptions.add(session, Kind.Session, { slug: "one", topic });
                rows.append(session, { slug: "one", seq: ++seq, topics: [topic] }, clock.now);
              },
              withdraw: (session, item) => rows.withdraw(session, "one", `uri:${item}`),
              itemsOf: ({ topics }: News) => topics.map((topic) => topic.slice("uri:".length)),
              numberOf: (news: News) => news.seq,
            };
          },
          { canEvict: true },
          (violations) => expect(violations).toEqual([]),
        ),
        RUNS,
      );
    });
  }, 60_000);
});

describe("changes that a feed has not received", () => {
  test("are delivered, and not again, whatever happens", async ({ expect }) => {
    await withSql(async ({ sql }) => {
      await fc.assert(
        outboxProperty(
          (clock, isOver) => {
            const rows = new UnsentChanges(ofLife(sql, isOver), () => clock.now);
            return {
              rows,
              append: (slug, item) => rows.append(slug, `uri:${item}`, clock.now),
              itemsOf: (topics: readonly Topic[]) =>
                topics.map((topic) => topic.slice("uri:".length)),
            };
          },
          { canEvict: true },
          (violations) => expect(violations).toEqual([]),
        ),
        RUNS,
      );
    });
  }, 60_000);
});
