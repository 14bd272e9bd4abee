/**
 * The change notifications of servers. In 2026-07-28 they come on the streams of subscriptions, and
 * never on that of a request (subscriptions).
 */

export const LIST_CHANGED = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;
export const RESOURCE_UPDATED = "notifications/resources/updated";
/** What a person was to do on a page is done (2025-11-25, elicitation, URL mode). */
export const ELICITATION_COMPLETE = "notifications/elicitation/complete";

/** The members of a subscription's filter (2026-07-28, subscriptions). */
export const LIST_FILTER = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;
export const SUBSCRIPTIONS_ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

const ALL: ReadonlySet<string> = new Set([...Object.values(LIST_CHANGED), RESOURCE_UPDATED]);

export function isChangeNotice(method: string): boolean {
  return ALL.has(method);
}
