/** The health of the servers behind the gateway: unhealthy ones come first. */

import type { HealthState, ResourceConflict, ServerHealth } from "../../observability/health.ts";
import { type Html, html } from "./html.ts";
import { foreign, part } from "./parts.ts";
import { when } from "./time.ts";

const STATES: Readonly<Record<HealthState, readonly [look: string, label: string]>> = {
  healthy: ["good", "Healthy"],
  failing: ["warn", "Failing"],
  down: ["bad", "Down"],
  unknown: ["", "Unknown"],
};
const KINDS = [
  ["tools", "tool", "tools"],
  ["resources", "resource", "resources"],
  ["templates", "resource template", "resource templates"],
  ["prompts", "prompt", "prompts"],
] as const;
/** Our sentences contain a slug. */
const MAX_MESSAGE = 400;
const MAX_URI = 200;

/** @param list the servers in the configured order. */
export function serversSection(list: readonly ServerHealth[], now: number): Html {
  return part(
    "Servers",
    "A server that is failing is served from what it last listed; one that is down is left out of lists. Both can be called. A resource that two servers have is that of the one which MCP_SERVERS names first: change the order there, or deny it at one of them.",
    list.length === 0
      ? html`<p class="empty">No server is configured.</p>`
      : html`${summary(list)}
          <ul class="entries">
            ${list.map((each) => row(each, now))}
          </ul>`,
  );
}

/** With fifty servers, the first words name what a reader looks for. */
function summary(list: readonly ServerHealth[]): Html {
  const counted = (Object.keys(STATES) as HealthState[]).flatMap((state) => {
    const { length } = list.filter((each) => each.state === state);
    return length === 0 ? [] : [`${length} ${STATES[state][1].toLowerCase()}`];
  });
  const unwell = list.filter(({ state }) => state === "failing" || state === "down");
  return html`<p><b>${counted.join(", ")}</b></p>
    ${
      unwell.length > 0 &&
      html`<ul class="chips" aria-label="Not well">
        ${unwell.map(
          ({ slug }) => html`<li><a href="#${anchor(slug)}">${foreign(slug, "?")}</a></li>`,
        )}
      </ul>`
    }`;
}

function row(each: ServerHealth, now: number): Html {
  const { slug, state, trouble, seenAt, conflicts = [] } = each;
  const [look, label] = STATES[state];
  return html`<li class="entry" id="${anchor(slug)}">
    <h3>
      ${foreign(slug, "?")} <span class="badge ${look}">${label}</span>
      ${conflicts.length > 0 && html`<span class="badge warn">Conflict</span>`}
    </h3>
    ${
      trouble !== undefined &&
      html`<p>
        ${foreign(trouble.message, "", MAX_MESSAGE)}
        <span class="small">(began ${when(trouble.since, now)})</span>
      </p>`
    }
    ${conflicts.map(conflict)}
    <p class="small">
      ${
        seenAt === undefined
          ? "Nobody has asked what it offers yet, or it did not say"
          : html`${offer(each.counts)} · seen ${when(seenAt, now)}`
      }
      ${each.watched > 0 && html` · ${subscriptions(each)}`}
    </p>
  </li>`;
}

function conflict({ message, uris }: ResourceConflict): Html {
  return html`<p>
    ${foreign(message, "", MAX_MESSAGE)}${
      uris.length > 0 &&
      html`:
      ${uris.map((uri, n) => html`${n > 0 && ", "}<code>${foreign(uri, "?", MAX_URI)}</code>`)}`
    }
  </p>`;
}

function offer(counts: ServerHealth["counts"]): string {
  const said = KINDS.flatMap(([kind, one, many]) =>
    counts[kind] === 0 ? [] : [`${counts[kind]} ${counts[kind] === 1 ? one : many}`],
  );
  return said.length === 0 ? "Offers nothing" : said.join(", ");
}

function subscriptions({ watched, isWatching }: ServerHealth): string {
  const said = watched === 1 ? "1 subscription" : `${watched} subscriptions`;
  return isWatching ? said : `${said}, but it cannot be listened to at the moment`;
}

function anchor(slug: string): string {
  return `server-${slug}`;
}
