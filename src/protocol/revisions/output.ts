/**
 * Wraps structured output that is no object. 2026-07-28 allows any JSON; before it, the value must be an
 * object and its schema must describe one (2025-06-18, tools). So a value `v` becomes
 * `{ "result": v }`, and its schema describes that object, as in the official SDK.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";

const MOVED_TO = "#/properties/result";

/** Keywords whose members are schemas under names that are not keywords. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "dependencies"],
  ...["$defs", "definitions"],
]);
/** Keywords whose values are data: a `$ref` in there has no meaning. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Only 2019-09 has a reference that is not a pointer: `$recursiveRef`. */
const DRAFT_2019 = /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/;

/** True for a schema that an older client may get unchanged. A root without a type may be anything. */
export function isObjectSchema(schema: unknown): schema is JsonObject {
  return isObject(schema) && schema["type"] === "object";
}

/** @param schema that does not describe an object. */
export function wrapSchema(schema: unknown): JsonObject {
  const { $schema, ...rest } = asObject(schema);
  const mover = new ReferenceMover(typeof $schema === "string" && DRAFT_2019.test($schema));
  return {
    ...(typeof $schema === "string" ? { $schema } : {}),
    type: "object",
    properties: { result: mover.move(rest) },
    required: ["result"],
  };
}

export function wrapValue(value: unknown): JsonObject {
  return { result: value };
}

/** `true` and `false` are schemas too, but MCP requires objects for the schemas of properties. */
export function asObject(schema: unknown): JsonObject {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}

/**
 * Rewrites the local references of a schema that moves; an embedded schema resource keeps its own. The
 * depth is not limited here: the reader of the message has limited it.
 */
class ReferenceMover {
  readonly #isRecursive: boolean;

  constructor(isRecursive: boolean) {
    this.#isRecursive = isRecursive;
  }

  move(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.move(part));
    if (!isObject(schema) || isResource(schema)) return schema;
    const moved = this.#members(schema, (keyword, value) => this.#member(keyword, value));
    return this.#isRecursive ? withoutRecursion(moved) : moved;
  }

  #member(keyword: string, value: unknown): unknown {
    if (DATA.has(keyword)) return value;
    if (keyword === "$ref" || keyword === "$dynamicRef") return moveReference(value);
    return NAMED_SCHEMAS.has(keyword) && isObject(value)
      ? this.#members(value, (_name, part) => this.move(part))
      : this.move(value);
  }

  #members(object: JsonObject, map: (key: string, value: unknown) => unknown): JsonObject {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(key, value)]));
  }
}

/** True for a schema that is the base of its references. A fragment as `$id` is an anchor (draft 7). */
function isResource({ $id }: JsonObject): boolean {
  return typeof $id === "string" && !$id.startsWith("#");
}

/** `#name` is an anchor and needs no rewriting; any other reference is to another document. */
function moveReference(reference: unknown): unknown {
  if (reference === "") return MOVED_TO;
  const isLocal =
    typeof reference === "string" && (reference === "#" || reference.startsWith("#/"));
  return isLocal ? MOVED_TO + reference.slice(1) : reference;
}

function withoutRecursion(schema: JsonObject): JsonObject {
  const { $recursiveRef, ...rest } = schema;
  if ($recursiveRef !== "#") return schema;
  if (rest["$ref"] === undefined) return { ...rest, $ref: MOVED_TO };
  const all: readonly unknown[] = Array.isArray(rest["allOf"]) ? rest["allOf"] : [];
  return { ...rest, allOf: [...all, { $ref: MOVED_TO }] };
}
