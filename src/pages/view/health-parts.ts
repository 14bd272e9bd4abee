/** How a server is, in the words of the operator's pages. */

import type { HealthState, ResourceConflict, ServerHealth } from "../../observability/health.ts";
import { type Html, html } from "./html.ts";
import { badge, type BadgeLook, foreign } from "./parts.ts";

const STATES: Readonly<Record<HealthState, readonly [look: BadgeLook, label: string]>> = {
  healthy: ["good", "Healthy"],
  failing: ["warn", "Failing"],
  down: ["bad", "Down"],
  unconnected: ["warn", "Needs a sign-in"],
  personal: ["", "By account"],
  unknown: ["", "Being looked at"],
};

export const HEALTH_STATES = Object.keys(STATES) as readonly HealthState[];

export function healthWords(state: HealthState): string {
  return STATES[state][1];
}

export function healthBadge({ state }: Pick<ServerHealth, "state">): Html {
  const [look, label] = STATES[state];
  return badge(label, look);
}

/** What stands where nothing that it offers is known. */
export function unseenWords({ state }: Pick<ServerHealth, "state">): string {
  return state === "unknown"
    ? "It is looked at for the first time. Load this page again in a moment"
    : "It has not said yet what it offers";
}

const KINDS = [
  ["tools", "tool", "tools"],
  ["resources", "resource", "resources"],
  ["templates", "resource template", "resource templates"],
  ["prompts", "prompt", "prompts"],
] as const;

export function offer(counts: ServerHealth["counts"]): string {
  const said = KINDS.flatMap(([kind, one, many]) =>
    counts[kind] === 0 ? [] : [`${counts[kind]} ${counts[kind] === 1 ? one : many}`],
  );
  return said.length === 0 ? "Offers nothing" : said.join(", ");
}

export function subscriptions({ watched, isWatching }: ServerHealth): string {
  const said = watched === 1 ? "1 subscription" : `${watched} subscriptions`;
  return isWatching ? said : `${said}, but it cannot be listened to at the moment`;
}

/** Our sentences contain a slug. */
export const MAX_MESSAGE = 400;
const MAX_URI = 200;

export function conflictEntry({ message, uris }: ResourceConflict): Html {
  return html`<p>
    ${foreign(message, "", MAX_MESSAGE)}${
      uris.length > 0 &&
      html`:
      ${uris.map((uri, n) => html`${n > 0 && ", "}<code>${foreign(uri, "?", MAX_URI)}</code>`)}`
    }
  </p>`;
}
