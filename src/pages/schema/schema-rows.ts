/** A JSON Schema as the rows of a table: one for each value that has a name. */

import { isJsonNumber, textOfNumber } from "../../lib/lossless-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { resolved } from "./resolve.ts";

export interface SchemaRow {
  /** `order.items[].count`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  /** What a value may be: `at least 1`, `one of …`. */
  readonly rules: readonly string[];
}

const MAX_DEPTH = 4;
const MAX_ROWS = 100;
const MAX_VALUES = 20;

/** @returns at most 100 rows, the outermost in the order of the schema. */
export function schemaRows(schema: unknown): readonly SchemaRow[] {
  if (!isObject(schema)) return [];
  const rows: SchemaRow[] = [];
  addMembers(rows, resolved(schema, schema), { root: schema, prefix: "", depth: 1 });
  return rows;
}

interface Place {
  readonly root: JsonObject;
  readonly prefix: string;
  readonly depth: number;
}

function addMembers(rows: SchemaRow[], schema: JsonObject, place: Place): void {
  const { properties, required } = schema;
  if (!isObject(properties)) return;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  for (const [name, member] of Object.entries(properties)) {
    if (rows.length >= MAX_ROWS) return;
    const own = resolved(member, place.root);
    const path = place.prefix + name;
    rows.push({
      path,
      type: typeOf(own, place.root),
      isRequired: needed.includes(name),
      description: typeof own["description"] === "string" ? own["description"] : undefined,
      rules: rulesOf(own),
    });
    if (place.depth >= MAX_DEPTH) continue;
    const inner = { ...place, depth: place.depth + 1 };
    const { items } = own;
    if (!isObject(items)) addMembers(rows, own, { ...inner, prefix: `${path}.` });
    else addMembers(rows, resolved(items, place.root), { ...inner, prefix: `${path}[].` });
  }
}

/** @param schema resolved. */
function typeOf(schema: JsonObject, root: JsonObject, depth = 0): string {
  const { type, items, anyOf, oneOf } = schema;
  if (type === "array" && isObject(items) && depth < MAX_DEPTH) {
    return `list of ${typeOf(resolved(items, root), root, depth + 1)}`;
  }
  if (typeof type === "string") return type === "array" ? "list" : type;
  if (Array.isArray(type)) return type.map(String).join(" or ");
  const union = anyOf ?? oneOf;
  if (Array.isArray(union) && depth < MAX_DEPTH) {
    const types = union.map((part: unknown) => typeOf(resolved(part, root), root, depth + 1));
    return [...new Set(types)].join(" or ");
  }
  const values = Array.isArray(schema["enum"]) ? (schema["enum"] as unknown[]) : [schema["const"]];
  const kinds = values.map((value) => (isJsonNumber(value) ? "number" : typeof value));
  const [first] = kinds;
  const isOne = first !== undefined && first !== "undefined" && new Set(kinds).size === 1;
  return isOne ? first : "any value";
}

/** The words before the value of each keyword, in the order of the table. */
const BOUNDS: readonly (readonly [keyword: string, before: string, after: string])[] = [
  ["default", "by default ", ""],
  ["const", "always ", ""],
  ["minimum", "at least ", ""],
  ["exclusiveMinimum", "more than ", ""],
  ["maximum", "at most ", ""],
  ["exclusiveMaximum", "less than ", ""],
  ["multipleOf", "a multiple of ", ""],
  ["minLength", "at least ", " characters"],
  ["maxLength", "at most ", " characters"],
  ["minItems", "at least ", " of them"],
  ["maxItems", "at most ", " of them"],
  ["format", "as ", ""],
  ["pattern", "fits ", ""],
];

export function rulesOf(schema: JsonObject): readonly string[] {
  const { enum: values } = schema;
  const bounds = BOUNDS.flatMap(([keyword]) => ruleOf(schema, keyword) ?? []);
  return Array.isArray(values) ? [oneOf(values), ...bounds] : bounds;
}

/** @returns the words for one keyword of a schema, if it has it: `at least 2 characters`. */
export function ruleOf(schema: JsonObject, keyword: string): string | undefined {
  const value = schema[keyword];
  // `null` by default is what nobody sets.
  if (value === undefined || (keyword === "default" && value === null)) return undefined;
  const [, before = "", after = ""] = BOUNDS.find(([one]) => one === keyword) ?? [];
  const words = `${before}${textOf(value)}${after}`;
  return words.endsWith(" 1 characters") ? words.slice(0, -1) : words;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map(textOf);
  const more = values.length > MAX_VALUES ? [`${values.length - MAX_VALUES} more`] : [];
  return `one of ${[...shown, ...more].join(", ")}`;
}

/** A value as a person reads it. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isJsonNumber(value) ? textOfNumber(value) : JSON.stringify(value);
}
