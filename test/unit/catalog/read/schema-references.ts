/**
 * A small resolver of local references in a JSON Schema, written apart from what it tests: where
 * each reference is, and the place that it leads to.
 */

import { isObject, type JsonObject } from "../../../../src/protocol/json-rpc.ts";

export interface Reference {
  readonly to: string;
  /** The place of the schema that has it. */
  readonly at: readonly string[];
  /** The place of the resource that it is local to. */
  readonly base: readonly string[];
}

const MAPS = ["properties", "$defs"];
const SCHEMAS = ["items"];
const LISTS = ["anyOf"];

/** In the order of the document, for the keywords that the tests make schemas of. */
export function localReferences(root: JsonObject): readonly Reference[] {
  const found: Reference[] = [];
  visit(root, [], []);
  return found;

  function visit(schema: unknown, at: readonly string[], outer: readonly string[]): void {
    if (!isObject(schema)) return;
    const { $id, $ref } = schema;
    const base = typeof $id === "string" && !$id.startsWith("#") ? at : outer;
    for (const [keyword, value] of Object.entries(schema)) {
      const below = [...at, keyword];
      if (keyword === "$ref" && typeof $ref === "string") found.push({ to: $ref, at, base });
      if (SCHEMAS.includes(keyword)) visit(value, below, base);
      if (LISTS.includes(keyword) && Array.isArray(value)) {
        for (const [n, part] of value.entries()) visit(part, [...below, String(n)], base);
      }
      if (MAPS.includes(keyword) && isObject(value)) {
        for (const [name, part] of Object.entries(value)) visit(part, [...below, name], base);
      }
    }
  }
}

/** The place that a reference leads to; `undefined` when there is nothing. */
export function target(root: JsonObject, { to, base }: Reference): readonly string[] | undefined {
  const tokens = decodeURI(to).split("/").slice(1);
  const path = [
    ...base,
    ...tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")),
  ];
  let value: unknown = root;
  for (const token of path) {
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, token);
    if (!isThere) return undefined;
    value = (value as JsonObject)[token];
  }
  return path;
}
