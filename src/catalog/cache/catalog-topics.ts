/** The notification topics of the parts of a catalog. */

import type { About } from "../catalog.ts";
import type { Part } from "./catalog-text.ts";
import { LIST_TOPICS } from "../feeds.ts";
import type { ListTopic } from "../topics.ts";

const TOPICS: Readonly<Record<Part, ListTopic | undefined>> = {
  // Clients receive a server's description of itself when a session begins, and never again.
  about: undefined,
  tools: "tools",
  resources: "resources",
  templates: "resources",
  prompts: "prompts",
};

export function topicsOf(parts: readonly Part[]): ReadonlySet<ListTopic> {
  return new Set(parts.flatMap((part) => TOPICS[part] ?? []));
}

/** The topics of the lists that a server advertises. */
export function topicsHad({ capabilities }: About): readonly ListTopic[] {
  return LIST_TOPICS.filter((topic) => capabilities[topic] !== undefined);
}
