/** Sentences for the user about omissions from a catalog. They never quote the server. */

import { LISTS, type ListKind } from "../catalog.ts";

const WORDS: Readonly<Record<ListKind, string>> = {
  tools: "tool",
  resources: "resource",
  templates: "resource template",
  prompts: "prompt",
};

export function counted(list: ListKind, count: number): string {
  return count === 1 ? `1 ${WORDS[list]}` : `${count} ${many(list)}`;
}

export function leftOut(list: ListKind, count: number, slug: string, why: string): string {
  return `${counted(list, count)} of upstream "${slug}" ${count === 1 ? "is" : "are"} left out: ${why}`;
}

const many = (list: ListKind): string => `${WORDS[list]}s`;

export const flawed = {
  tooLong: (slug: string, list: ListKind, kept: number): string =>
    `Upstream "${slug}" lists more ${many(list)} than the gateway keeps; the first ${kept} are shown`,

  circular: (slug: string, list: ListKind, kept: number): string =>
    `Upstream "${slug}" lists its ${many(list)} in a circle; the first ${kept} are shown`,

  missing: (slug: string, list: ListKind): string =>
    `Upstream "${slug}" says that it has ${many(list)}, but does not know ${LISTS[list].method}`,

  nameless: (slug: string, list: ListKind, count: number): string =>
    leftOut(list, count, slug, `no "${LISTS[list].name}" that is a string`),

  doubled: (slug: string, list: ListKind, count: number): string =>
    leftOut(list, count, slug, `the same "${LISTS[list].name}" as one before`),

  unlawful: (slug: string, list: ListKind, count: number): string =>
    leftOut(list, count, slug, "header annotations that break the rules"),

  talkative: (slug: string): string =>
    `Upstream "${slug}" says more of itself than the gateway keeps; the rest is left out`,
} as const;
