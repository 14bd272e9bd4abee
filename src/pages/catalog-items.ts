/** The items of a server as the catalog shows them, and the search for them. */

import { parseLossless } from "../lib/lossless-json.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { effectOf, statesEffect } from "../protocol/tool-effect.ts";
import {
  type ConsoleItem,
  type ConsoleServer,
  ITEM_KINDS,
  type ItemKind,
} from "./console/console.ts";
import type { ItemRow } from "./view/catalog-parts.ts";

/** An item with the list that it stands in. */
export interface Found {
  readonly kind: ItemKind;
  readonly item: ConsoleItem;
}

const MAX_WORDS = 8;
const MAX_QUERY_CHARS = 200;

/** @param query what a person has entered. */
export function wordsOf(query: string): readonly string[] {
  const words = query.slice(0, MAX_QUERY_CHARS).toLowerCase().split(/\s+/);
  return words.filter((word) => word !== "").slice(0, MAX_WORDS);
}

/** @returns the items that have each word in their name, title or description. */
export function search({ lists }: ConsoleServer, words: readonly string[]): readonly Found[] {
  return ITEM_KINDS.flatMap((kind) =>
    lists[kind].filter((item) => has(item, words)).map((item) => ({ kind, item })),
  );
}

/** @returns `true` when each word is in the name, title or description. */
export function has(item: ConsoleItem, words: readonly string[]): boolean {
  const missing = words.filter((word) => !item.name.toLowerCase().includes(word));
  if (missing.length === 0) return true;
  // Most items need not be parsed to be told apart: a word of theirs stands in their JSON.
  const json = item.text.toLowerCase();
  if (!missing.every((word) => json.includes(JSON.stringify(word).slice(1, -1)))) return false;
  const { title, description, name, annotations } = parsed(item);
  const texts = [
    title,
    description,
    name,
    isObject(annotations) ? annotations["title"] : undefined,
  ];
  const text = texts.filter((each) => typeof each === "string").join("\n");
  return missing.every((word) => text.toLowerCase().includes(word));
}

/** Every text in a catalog is that of an object. */
export function parsed({ text }: ConsoleItem): JsonObject {
  return parseLossless(text) as JsonObject;
}

/** @returns the item's own title, or its name. */
export function titleOf({ title, name, annotations }: JsonObject): string | undefined {
  const titles = [title, isObject(annotations) ? annotations["title"] : undefined, name];
  return titles.find((each) => typeof each === "string" && each.trim() !== "") as
    | string
    | undefined;
}

export function rowOf({ kind, item }: Found): ItemRow {
  const whole = parsed(item);
  const { description, mimeType, annotations, arguments: parameters } = whole;
  const isTool = kind === "tools";
  return {
    kind,
    name: item.name,
    title: titleOf(whole) ?? item.name,
    description: typeof description === "string" ? description : undefined,
    mimeType: typeof mimeType === "string" ? mimeType : undefined,
    effect: isTool ? effectOf(annotations) : undefined,
    isStated: isTool && statesEffect(annotations),
    parameters: kind === "prompts" ? namesIn(parameters) : [],
  };
}

function namesIn(parameters: unknown): readonly string[] {
  if (!Array.isArray(parameters)) return [];
  return parameters.flatMap((each: unknown) =>
    isObject(each) && typeof each["name"] === "string" ? each["name"] : [],
  );
}
