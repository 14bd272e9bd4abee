/** `/activity`: the calls of a person or of everyone, newest first. */

import { type CallFilter, type ListedCall, outcomeKind, OUTCOMES } from "../../activity/call.ts";
import type { UnlistedCalls } from "../../activity/unlisted-calls.ts";
import { EVERY_SERVER } from "../../observability/call-record.ts";
import {
  count,
  duration,
  effectWords,
  OUTCOME_WORDS,
  outcomeDetail,
  size,
} from "./activity-words.ts";
import { ACTIVITY_STYLE } from "./activity-style.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { badge, exactText, foreign } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { exactly, toTheSecond } from "./time.ts";

/** `client` is the name that is shown. */
export interface CallRow extends Omit<ListedCall, "person" | "clientName"> {
  /** In the list, as addresses have it. */
  readonly place: string;
  /** Absent where all calls are the reader's own. */
  readonly person: { readonly id: string; readonly name: string } | undefined;
}

export interface ActivityView {
  readonly nav: NonNullable<View["nav"]>;
  readonly recorded: "off" | "own" | "all";
  readonly isEveryones: boolean;
  /** Whose calls these are: only a person who was chosen. */
  readonly filter: CallFilter;
  /** Of the person who was chosen. */
  readonly personName: string | undefined;
  readonly slugs: readonly string[];
  readonly rows: readonly CallRow[];
  readonly unlisted: readonly UnlistedCalls[];
  /** Of the page without a place in the list. */
  readonly path: string;
  readonly older: string | undefined;
  readonly isFirst: boolean;
  /** The stream of what happens from now on. */
  readonly live: string | undefined;
  /** The reader may see everyone's. */
  readonly mayChoose: boolean;
}

export function activityView(model: ActivityView): View {
  const { nav, rows, live, isFirst, path, isEveryones } = model;
  const body = html`
    <h1>Activity</h1>
    <p class="lede">
      ${isEveryones ? "Everyone’s calls" : "Your calls"}, newest first, for up to seven days. What
      was sent and what came back is not kept.
    </p>
    ${views(model)} ${recording(model)} ${hasChoice(model) && filters(model)} ${missing(model)}
    <p class="pager">
      <a href="${path}">${isFirst ? "Reload" : "Newest calls"}</a>
      <span id="live" role="status"></span>
    </p>
    <table class="calls" aria-label="Calls">
      <thead>
        <tr>
          <th scope="col">When (UTC)</th>
          <th scope="col">What</th>
          <th scope="col">Outcome</th>
          <th scope="col" class="number">Took, sent / got</th>
        </tr>
      </thead>
      <tbody ${live !== undefined && html`data-live="${live}"`}>
        ${callRows(rows)}
      </tbody>
    </table>
    <p class="empty">${nothing(model)}</p>
    ${olderCalls(model)}
  `;
  return {
    ...{ title: "Activity", body, width: "wide", kind: "site", nav, style: ACTIVITY_STYLE },
    ...(live !== undefined && { isLive: true }),
  };
}

/** On a live page, the script has the link begin behind the last row that it leaves. */
function olderCalls({ older, live, path }: ActivityView): Html {
  if (older === undefined && live === undefined) return html``;
  return html`<p id="older" ${older === undefined && html`hidden`}>
    <a href="${older ?? path}">Older calls</a>
  </p>`;
}

/** The pages of what happened, of which this is one. */
function views({ mayChoose, isEveryones, nav, recorded }: ActivityView): Html {
  if (!nav.isAdmin) return html``;
  return html`<ul class="chips" aria-label="Views">
    ${
      mayChoose &&
      recorded === "all" &&
      html`${view(PATHS.activity, "Yours", !isEveryones)}
      ${view(`${PATHS.activity}?of=everyone`, "Everyone’s", isEveryones)}`
    }
    ${view(PATHS.usage, "Usage", false)}
  </ul>`;
}

function view(href: string, label: string, isCurrent: boolean): Html {
  return html`<li><a href="${href}" ${isCurrent && html`aria-current="true"`}>${label}</a></li>`;
}

function isNarrowed({ filter }: ActivityView): boolean {
  return Object.values(filter).some((each) => each !== "");
}

/** There is something to choose from, or a choice to be taken back. */
function hasChoice(model: ActivityView): boolean {
  return model.rows.length > 0 || !model.isFirst || isNarrowed(model);
}

/** Why the list is empty; hidden as soon as it is not. */
function nothing(model: ActivityView): Html {
  const { isEveryones, isFirst, recorded } = model;
  if (isNarrowed(model)) {
    const all = isEveryones ? `${PATHS.activity}?of=everyone` : PATHS.activity;
    return html`No call fits this. <a href="${all}">Show all</a>`;
  }
  if (!isFirst) return html`There are no older calls.`;
  if (recorded === "off") return html`No call from before that is left.`;
  if (isEveryones) return html`Nobody has called anything in the last seven days.`;
  return html`You have called nothing in the last seven days. What your applications call is listed
    here, and each tool that you try in the <a href="${PATHS.catalog}">catalog</a>.`;
}

/** What is recorded, where that is not everything. */
function recording({ recorded, isEveryones }: ActivityView): Html {
  if (recorded === "off") {
    return html`<p class="note warn">
      Calls are not recorded: whoever runs this gateway has set <code>ACTIVITY</code> to
      <code>off</code>. What was recorded before is listed until it is a week old.
    </p>`;
  }
  return recorded === "own" && isEveryones
    ? html`<p class="note">
        Here everybody sees their own calls alone: <code>ACTIVITY</code> is <code>own</code>.
      </p>`
    : html``;
}

function filters({ filter, slugs, isEveryones, personName }: ActivityView): Html {
  const { server, name = "", outcome, person = "", traceId = "" } = filter;
  const known = server === undefined || slugs.includes(server) ? slugs : [...slugs, server];
  return html`<form method="get" action="${PATHS.activity}" class="filters" role="search">
    ${isEveryones && html`<input type="hidden" name="of" value="everyone" />`}
    ${person !== "" && html`<input type="hidden" name="person" value="${person}" />`}
    ${
      personName !== undefined &&
      html`<p>
        Only calls of <b>${foreign(personName, person)}</b>.
        <a href="${PATHS.activity}?of=everyone">Show everyone’s</a>
      </p>`
    }
    <div class="row">
      ${choice("server", "Server", server, [
        ["", "All servers"],
        ...known.map((slug) => [slug, slug] as const),
      ])}
      ${words("name", "Tool", name)}
      ${choice("outcome", "Outcome", outcome, [
        ["", "All outcomes"],
        ...OUTCOMES.map((kind) => [kind, OUTCOME_WORDS[kind][0]] as const),
      ])}
      ${words("traceId", "Trace id", traceId)}
      <button class="plain">Show</button>
    </div>
  </form>`;
}

function words(name: string, label: string, value: string): Html {
  return html`<div class="labelled">
    <label for="${name}">${label}</label>
    <input class="field" id="${name}" name="${name}" value="${value}" maxlength="200" />
  </div>`;
}

export function choice(
  name: string,
  label: string,
  chosen: string | undefined,
  options: readonly (readonly [value: string, label: string])[],
): Html {
  return html`<div class="labelled">
    <label for="${name}">${label}</label>
    <select class="field" id="${name}" name="${name}">
      ${options.map(
        ([value, words]) =>
          html`<option value="${value}" ${value === (chosen ?? "") && html`selected`}>
            ${words}
          </option>`,
      )}
    </select>
  </div>`;
}

/** What the list lacks, since more calls were made than could be written down. */
function missing({ unlisted }: ActivityView): Html {
  if (unlisted.length === 0) return html``;
  return html`<ul class="note warn">
    ${unlisted.map(
      ({ minute, calls }) =>
        html`<li>
          Some calls of the minute from ${exactly(minute)} are not listed: ${count(calls)}. More
          were made than could be written down.
        </li>`,
    )}
  </ul>`;
}

export function callRows(rows: readonly CallRow[]): Html {
  return html`${rows.map(callRow)}`;
}

function callRow(row: CallRow): Html {
  const { id, place, at, outcome, ms, requestBytes, resultBytes, traceId } = row;
  const [label, look] = OUTCOME_WORDS[outcomeKind(outcome)];
  const detail = outcomeDetail(outcome);
  return html`<tr id="call-${id}" data-place="${place}">
    <td>${toTheSecond(at)}</td>
    <td class="whole">
      ${what(row)}
      <span class="small">${by(row)}</span>
      ${traceId !== "" && html`<span class="small">Trace <code>${traceId}</code></span>`}
    </td>
    <td class="whole">
      ${badge(label, look)}${detail !== undefined && html` <span class="small">${detail}</span>`}
    </td>
    <td class="number">
      ${duration(ms)}<span class="small">${size(requestBytes)} / ${size(resultBytes)}</span>
    </td>
  </tr>`;
}

const MAX_NAME = 200;

function what({ server, method, name }: CallRow): Html {
  const at = server === EVERY_SERVER ? "all servers" : server;
  const isTool = method === "tools/call" && name !== "";
  return html`<b>${isTool ? foreign(name, method, MAX_NAME) : exactText(method)}</b> at
    ${foreign(at, "?")}${
      !isTool && name !== "" && html` <span class="small">${exactText(name)}</span>`
    }`;
}

function by({ person, client, era, effect }: CallRow): Html {
  const words = [era, effectWords(effect)].filter((each) => each !== undefined && each !== "");
  const query = person && new URLSearchParams({ of: "everyone", person: person.id }).toString();
  return html`${
    person !== undefined &&
    html`<a href="${PATHS.activity}?${query}">${foreign(person.name, person.id)}</a> · `
  }${foreign(client, "An application without a name", MAX_NAME)}${words.map((each) => ` · ${each}`).join("")}`;
}
