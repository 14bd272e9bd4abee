/**
 * The changes that a host may have missed. What changed while it had no stream is not known, so everything that it
 * hears of is announced then: it looks once too often rather than once too seldom.
 */

import { LIST_CHANGED, RESOURCE_UPDATED } from "../../src/protocol/change-notices.ts";
import { notificationText } from "../stdio/message.ts";

const LISTS = ["tools", "prompts", "resources"] as const;

/**
 * @param isAnnounced whether the host is told of the changes of a list.
 * @param uris of the resources that it has subscribed to.
 * @param meta the member of `params` that each notification has, as JSON.
 */
export function missedChanges(
  isAnnounced: (list: (typeof LISTS)[number]) => boolean,
  uris: readonly unknown[],
  meta?: string,
): readonly string[] {
  const notification = (method: string, uri?: string): string =>
    notificationText(method, `{${[meta, uri].filter((member) => member !== undefined).join()}}`);
  return [
    ...LISTS.filter(isAnnounced).map((list) => notification(LIST_CHANGED[list])),
    ...uris.map((uri) => notification(RESOURCE_UPDATED, `"uri":${JSON.stringify(uri)}`)),
  ];
}
