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

const ALL: ReadonlySet<string> = new Set([...Object.values(LIST_CHANGED), RESOURCE_UPDATED]);

export function isChangeNotice(method: string): boolean {
  return ALL.has(method);
}
