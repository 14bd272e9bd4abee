/**
 * Structured output that is no object. 2026-07-28 has any JSON there; before it, the value and its
 * schema must be objects (2025-06-18, tools). So a value `v` becomes `{ "result": v }`, and its
 * schema the schema of that, as the official SDK does.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";

const MOVED_TO = "#/properties/result";

/** Keywords whose members are schemas by names that are not keywords. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "dependencies"],
  ...["$defs", "definitions"],
]);
/** Keywords whose values are data, where a `$ref` is a word like any other. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** 2019-09 alone has a reference that is not written as a pointer. */
const DRAFT_2019 = /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/;

/** True for a schema that an older client may get unchanged. A root without a type may be anything. */
export function isObjectSchema(schema: unknown): schema is JsonObject {
  return isObject(schema) && schema["type"] === "object";
}

/** @param schema one that describes something else than an object. */
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

/** `true` and `false` are schemas too, but where MCP has schemas of properties, they are objects. */
export function asObject(schema: unknown): JsonObject {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}

/**
 * Local references move with what they are in; those into a resource of its own stay. As deep as the
 * schema goes: whoever read it off the wire has set a limit to that.
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

/** Where references begin anew. One that is a fragment is an anchor by an older name (draft 7). */
function isResource({ $id }: JsonObject): boolean {
  return typeof $id === "string" && !$id.startsWith("#");
}

/** `#name` is an anchor, which moves along by itself; anything else is another document's. */
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
