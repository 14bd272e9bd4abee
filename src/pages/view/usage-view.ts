/** `/usage`: how much is called, how often it fails and how long it takes, for operators. */

import { BOUNDS_MS, bucketOf, percentile } from "../../activity/histogram.ts";
import { type Counts, DAY_MS, OTHER } from "../../activity/usage.ts";
import { EVERY_SERVER } from "../../observability/call-record.ts";
import { count, duration } from "./activity-words.ts";
import { ACTIVITY_STYLE } from "./activity-style.ts";
import { choice } from "./activity-view.ts";
import { chart } from "./chart.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { foreign, part } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { onDay } from "./time.ts";

export const PERIODS = [7, 30, 90] as const;
type Period = (typeof PERIODS)[number];

/** What the page is narrowed to, as its address has it. */
export interface UsageChoice {
  readonly days: Period;
  readonly server?: string;
  readonly tool?: string;
  readonly person?: string;
}

export interface DayUsage extends Counts {
  /** Days since 1970. */
  readonly day: number;
}

interface ServerUsage extends Counts {
  readonly server: string;
}

interface ToolUsage extends ServerUsage {
  readonly method: string;
  readonly tool: string;
}

interface PersonUsage extends Counts {
  readonly person: string;
  readonly name: string;
}

export interface UsageView {
  readonly nav: NonNullable<View["nav"]>;
  readonly recorded: "off" | "own" | "all";
  readonly choice: UsageChoice;
  /** Of the person who was chosen. */
  readonly personName: string | undefined;
  readonly slugs: readonly string[];
  readonly whole: Counts;
  /** Every day of the period, the oldest first. */
  readonly days: readonly DayUsage[];
  readonly servers: readonly ServerUsage[];
  readonly tools: readonly ToolUsage[];
  /** `undefined` where nobody sees what others call. */
  readonly people: readonly PersonUsage[] | undefined;
  readonly hasMoreTools: boolean;
  readonly hasMorePeople: boolean;
}

export function usageView(model: UsageView): View {
  const { nav, servers, people, whole, choice: chosen } = model;
  const isEmpty = whole.calls === 0;
  const body = html`
    <p class="small back"><a href="${PATHS.activity}">Activity</a></p>
    <h1>Usage</h1>
    <p class="lede">
      ${isEmpty ? nothing(model) : summary(whole)} in the last ${chosen.days} days. Days are those
      of UTC, and counts are kept for ${PERIODS[2]} of them.
    </p>
    ${recording(model)} ${choices(model)} ${isEmpty ? html`` : days(model)}
    ${
      servers.length > 0 &&
      part(
        "By server",
        undefined,
        table(
          "Server",
          servers.map((row) => [
            narrowed(chosen, { server: row.server }, atServer(row.server)),
            row,
          ]),
        ),
      )
    }
    ${tools(model)}
    ${
      people !== undefined &&
      people.length > 0 &&
      part(
        "By person",
        model.hasMorePeople ? "Those who called most. The CSV file has all." : undefined,
        table(
          "Person",
          people.map((row) => [
            row.person === ""
              ? foreign(row.name, "Somebody")
              : narrowed(chosen, { person: row.person }, foreign(row.name, row.person)),
            row,
          ]),
        ),
      )
    }
    ${!isEmpty && html`<p><a href="${address(PATHS.usageCsv, chosen)}">Download as CSV</a></p>`}
  `;
  return { title: "Usage", body, width: "wide", kind: "site", nav, style: ACTIVITY_STYLE };
}

function nothing({ choice: { server, tool, person }, recorded }: UsageView): string {
  if ([server, tool, person].some((each) => each !== undefined)) return "No call of these was made";
  return recorded === "off" ? "No call was counted" : "Nobody has called anything";
}

function summary({ calls, errors }: Counts): string {
  const failed = errors === 0 ? "none of which failed" : `${count(errors)} of which failed`;
  return calls === 1 ? "One call was made" : `${count(calls)} calls were made, ${failed},`;
}

function recording({ recorded }: UsageView): Html {
  if (recorded === "all") return html``;
  return recorded === "off"
    ? html`<p class="note warn">
        Calls are not counted: whoever runs this gateway has set <code>ACTIVITY</code> to
        <code>off</code>. What was counted before is shown until it is ${PERIODS[2]} days old.
      </p>`
    : html`<p class="note">
        These are the totals of everybody. Who called what is not shown: <code>ACTIVITY</code> is
        <code>own</code>.
      </p>`;
}

function choices({ choice: chosen, slugs, personName }: UsageView): Html {
  const { days: period, server, tool, person } = chosen;
  const known = server === undefined || slugs.includes(server) ? slugs : [...slugs, server];
  const only = [
    ...(tool === undefined ? [] : [html`the tool <b>${foreign(tool, "?")}</b>`]),
    ...(person === undefined ? [] : [html`<b>${foreign(personName ?? person, person)}</b>`]),
  ];
  return html`<form method="get" action="${PATHS.usage}" class="filters">
    ${tool !== undefined && html`<input type="hidden" name="tool" value="${tool}" />`}
    ${person !== undefined && html`<input type="hidden" name="person" value="${person}" />`}
    ${
      only.length > 0 &&
      html`<p>
        Only ${only.map((each, n) => html`${n > 0 && " and "}${each}`)}.
        <a href="${address(PATHS.usage, { days: period })}">Show everything</a>
      </p>`
    }
    <div class="row">
      ${choice(
        "days",
        "Period",
        String(period),
        PERIODS.map((each) => [String(each), `${each} days`] as const),
      )}
      ${choice("server", "Server", server, [
        ["", "All servers"],
        ...known.map((slug) => [slug, slug] as const),
      ])}
      <button class="plain">Show</button>
    </div>
  </form>`;
}

function days({ days: all, whole }: UsageView): Html {
  const most = Math.max(...all.map(({ calls }) => calls));
  const calls = chart({
    ...{ id: "calls", title: "Calls a day" },
    description: `At most ${count(most)} calls in a day, ${count(whole.calls)} in all; ${count(whole.errors)} failed.`,
    bars: all.map(({ day, calls, errors }) => ({
      label: onDay(day * DAY_MS),
      value: calls,
      failed: errors,
    })),
    top: [most, count(most)],
  });
  const slow = all.map(({ buckets }) => percentile(buckets, 0.95));
  const steps = slow.map((ms) => (ms === undefined ? 0 : bucketOf(ms) + 1));
  const slowest = Math.max(...slow.map((ms) => ms ?? 0));
  const times = chart({
    ...{ id: "times", title: "95 % of a day’s calls took at most" },
    description: `On the slowest day, 95 % of the calls took at most ${boundWords(slowest)}. Each step up is the next bound, about twice as long.`,
    bars: all.map(({ day }, index) => ({ label: onDay(day * DAY_MS), value: steps[index] ?? 0 })),
    top: [Math.max(...steps), boundWords(slowest)],
  });
  const withCalls = all.filter((row) => row.calls > 0).toReversed();
  return part(
    "By day",
    undefined,
    html`<h3>Calls a day</h3>
      <p class="legend small">
        <span>Answered or cancelled</span> <span class="failed">Failed</span>
      </p>
      ${calls}
      <h3>95 % of a day’s calls took at most</h3>
      ${times}
      <details>
        <summary>The same as a table</summary>
        ${table(
          "Day",
          withCalls.map((row) => [html`${onDay(row.day * DAY_MS)}`, row]),
        )}
      </details>
      <p class="small">
        Times are counted in buckets, so they are bounds and not exact:
        ${BOUNDS_MS.map(duration).join(", ")}.
      </p>`,
  );
}

function tools({ tools: all, choice: chosen, hasMoreTools }: UsageView): Html {
  if (all.length === 0) return html``;
  const rows = all.map((row) => [toolName(chosen, row), row] as const);
  return part(
    "By tool",
    hasMoreTools ? "Those called most. The CSV file has all." : undefined,
    table("Tool or method", rows),
  );
}

function toolName(chosen: UsageChoice, { server, method, tool }: ToolUsage): Html {
  const at = html`<span class="small">${atServer(server)}</span>`;
  if (tool === OTHER) return html`Names beyond the first thousand of a day ${at}`;
  if (tool === "") return html`<code>${foreign(method, "?")}</code> ${at}`;
  return html`${narrowed(chosen, { server, tool }, foreign(tool, "?"))} ${at}`;
}

function atServer(server: string): Html {
  return server === EVERY_SERVER ? html`All servers together` : foreign(server, "?");
}

function table(label: string, rows: readonly (readonly [Html, Counts])[]): Html {
  return html`<table class="calls" aria-label="${label}">
    <thead>
      <tr>
        <th scope="col">${label}</th>
        <th scope="col" class="number">Calls</th>
        <th scope="col" class="number">Failed</th>
        <th scope="col" class="number">Half within</th>
        <th scope="col" class="number">95 % within</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ([name, { calls, errors, buckets }]) =>
          html`<tr>
            <th scope="row" class="whole">${name}</th>
            <td class="number" data-label="calls">${count(calls)}</td>
            <td class="number" data-label="failed">${count(errors)}</td>
            <td class="number" data-label="half within">${boundWords(percentile(buckets, 0.5))}</td>
            <td class="number" data-label="95 % within">
              ${boundWords(percentile(buckets, 0.95))}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function boundWords(ms: number | undefined): string {
  if (ms === undefined) return "–";
  return ms === Infinity ? `over ${duration(BOUNDS_MS.at(-1) ?? 0)}` : duration(ms);
}

function narrowed(chosen: UsageChoice, more: Partial<UsageChoice>, label: Html): Html {
  return html`<a href="${address(PATHS.usage, { ...chosen, ...more })}">${label}</a>`;
}

function address(path: string, { days: period, ...rest }: UsageChoice): string {
  return `${path}?${new URLSearchParams({ days: String(period), ...rest }).toString()}`;
}
