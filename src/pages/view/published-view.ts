/** The servers that a person publishes from machines of theirs, as a part of `/account`. */

import { type Html, html } from "./html.ts";
import {
  actionButton,
  badge,
  entry,
  exactText,
  foreign,
  listOf,
  type PageContext,
  part,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface PublishedServerRow {
  readonly name: string;
  readonly slug: string;
  /** As the machine says. */
  readonly host: string;
  readonly since: number;
  readonly offlineSince?: number;
}

export function publishedSection(
  rows: readonly PublishedServerRow[],
  page: PageContext,
): Html | undefined {
  if (rows.length === 0) return undefined;
  return part(
    "Servers that you publish",
    "They run on machines of yours, and nobody else can see them here. Ending one here ends it on its machine, too.",
    listOf(
      rows.map((row) => publishedServer(row, page)),
      "",
    ),
  );
}

function publishedServer(
  { name, slug, host, since, offlineSince }: PublishedServerRow,
  { now, csrf }: PageContext,
): Html {
  const isOnline = offlineSince === undefined;
  return entry({
    title: html`${exactText(slug)} ${isOnline ? badge("Online", "good") : badge("Offline", "warn")}`,
    facts: [
      ["Machine", foreign(host, "a machine without a name")],
      ["Published", when(since, now)],
      ...(offlineSince === undefined
        ? []
        : [["Not connected since", when(offlineSince, now)] as const]),
    ],
    action: actionButton({
      ...{ action: PATHS.endPublished, label: "End", about: slug },
      ...{ fields: { csrf, id: name }, look: "danger" },
    }),
  });
}
