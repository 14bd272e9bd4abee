/** Translates the form of an elicitation to 2025-06-18. */

import { isObject, type JsonObject } from "../json-rpc.ts";

export type PlainForm =
  | { readonly kind: "form"; readonly schema: unknown }
  /** The form has a field of several choices, which 2025-06-18 does not have. */
  | { readonly kind: "unsayable" };

export function plainForm(schema: unknown): PlainForm {
  if (!isObject(schema) || !isObject(schema["properties"])) return { kind: "form", schema };
  const fields = Object.entries(schema["properties"]);
  if (fields.some(([, field]) => isObject(field) && field["type"] === "array")) {
    return { kind: "unsayable" };
  }
  const plain = fields.map(([name, field]) => [name, plainField(field)]);
  const properties = Object.fromEntries(plain) as JsonObject;
  return { kind: "form", schema: { ...schema, properties } };
}

/** 2025-06-18 has choices with titles as two lists: `enum` and `enumNames`. */
function plainField(field: unknown): unknown {
  if (!isObject(field)) return field;
  const { oneOf, ...rest } = field;
  const choices: readonly unknown[] = Array.isArray(oneOf) ? oneOf : [];
  if (choices.length === 0 || !choices.every(isChoice)) return field;
  return {
    ...rest,
    enum: choices.map((choice) => choice["const"]),
    enumNames: choices.map((choice) => choice["title"] ?? choice["const"]),
  };
}

function isChoice(choice: unknown): choice is JsonObject {
  return isObject(choice) && typeof choice["const"] === "string";
}
