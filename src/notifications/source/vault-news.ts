/**
 * The news of a vault: its owner has other accounts than before. It is announced as a change of all lists, since
 * each may be another one now. An account that was connected is announced to those as well that had asked for it.
 */

import { LIST_TOPICS } from "../../catalog/feeds.ts";
import { askOf } from "../../catalog/topics.ts";
import { OwnNews, type OwnNewsOptions } from "./own-news.ts";

export interface VaultNewsOptions extends Pick<
  OwnNewsOptions,
  "sql" | "publish" | "alarm" | "now"
> {
  /** `vaultKey`. */
  readonly key: string;
  /** Whether the account at a server can be used, and allows all that was asked of it. */
  readonly isUsable: (slug: string) => boolean;
}

export class VaultNews extends OwnNews {
  constructor({ isUsable, ...options }: VaultNewsOptions) {
    // The person was faster than whoever asked.
    super({ ...options, isDue: (topic) => isUsable(askOf(topic)?.slug ?? "") });
  }

  /** @param connected the server at which an account was connected; omitted where one was ended. */
  changed(connected?: string): void {
    const asks = this.promised().filter((topic) => askOf(topic)?.slug === connected);
    this.announce([...LIST_TOPICS, ...(connected === undefined ? [] : asks)]);
  }
}
