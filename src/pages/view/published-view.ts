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
  readonly isPaused: boolean;
}

/** @param rows absent where they are not known at the moment. */
export function publishedSection(
  rows: readonly PublishedServerRow[] | undefined,
  page: PageContext,
): Html | undefined {
  if (rows === undefined) return unreadable();
  if (rows.length === 0) return undefined;
  const isAnyOffline = rows.some(
    ({ offlineSince, isPaused }) => offlineSince !== undefined && !isPaused,
  );
  return html`<section class="stop part" id="published">
    <h2>Servers that you publish</h2>
    <p class="small">
      They run on machines of yours, and nobody else can see them here. One that is paused is served
      nowhere until you resume it. Ending one here ends it on its machine, too.
    </p>
    ${
      isAnyOffline &&
      html`<p class="note warn">
        A machine that is offline needs you: start <code>edgeway publish</code> there again, or end
        the server. After a day it is gone from here by itself.
      </p>`
    }
    ${listOf(
      rows.map((row) => publishedServer(row, page)),
      "",
    )}
  </section>`;
}

function unreadable(): Html {
  return html`<section class="stop part" id="published">
    <h2>Servers that you publish</h2>
    <p class="note warn">
      They cannot be shown at the moment, because the gateway cannot read them. Load this page again
      in a moment.
    </p>
  </section>`;
}

function publishedServer(
  { name, slug, host, since, offlineSince, isPaused }: PublishedServerRow,
  { now, csrf }: PageContext,
): Html {
  const state = offlineSince === undefined ? badge("Online", "good") : badge("Offline", "warn");
  const fields = { csrf, id: name };
  const button = isPaused
    ? ({ action: PATHS.resumePublished, label: "Resume" } as const)
    : ({ action: PATHS.pausePublished, label: "Pause" } as const);
  return entry({
    title: html`${exactText(slug)} ${isPaused ? badge("Paused", "") : state}`,
    facts: [
      ["Machine", foreign(host, "a machine without a name")],
      ["Published", when(since, now)],
      ...(offlineSince === undefined
        ? []
        : [["Not connected since", when(offlineSince, now)] as const]),
    ],
    action: html`${actionButton({ ...button, fields, about: slug })}
    ${actionButton({ action: PATHS.endPublished, label: "End", fields, about: slug, look: "danger" })}`,
  });
}
