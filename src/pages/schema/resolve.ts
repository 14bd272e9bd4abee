/**
 * Plain forms of what servers write in JSON Schema: a reference into the same schema becomes what it
 * refers to, and an optional value that is spelled as a union with `null` becomes that value. Nothing is
 * loaded, and what is not understood stays as it is.
 */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

/** References may lead in a circle. */
const MAX_STEPS = 16;
const UNIONS = ["allOf", "anyOf", "oneOf"] as const;

/** @param root the schema that references begin at. */
export function resolved(schema: unknown, root: JsonObject): JsonObject {
  let current: JsonObject = isObject(schema) ? schema : {};
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = simpler(current, root);
    if (next === undefined) break;
    current = next;
  }
  return current;
}

/** What stands beside a reference or a union is about its place, and wins. */
function simpler(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const { $ref, ...beside } = schema;
  if (typeof $ref === "string") return { ...targetOf($ref, root), ...beside };
  for (const union of UNIONS) {
    const { [union]: parts, ...rest } = schema;
    if (!Array.isArray(parts)) continue;
    const real = parts.filter((part: unknown) => union === "allOf" || !isNull(part));
    const [only] = real;
    if (real.length === 1 && isObject(only)) return { ...only, ...rest };
  }
  const { type } = schema;
  if (!Array.isArray(type)) return undefined;
  const real = type.filter((each: unknown) => each !== "null");
  return real.length === 1 ? { ...schema, type: real[0] } : undefined;
}

function isNull(part: unknown): boolean {
  return isObject(part) && (part["type"] === "null" || part["const"] === null);
}

/** @param reference a JSON Pointer in a fragment (RFC 6901, section 6). */
function targetOf(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith("#")) return {};
  let target: unknown = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return isObject(target) ? target : {};
}
