/** A form that was sent, as the values of its schema. The server judges them once more. */

import { isJsonInteger, isJsonNumber, nearest, tryLossless } from "../../lib/lossless-json.ts";
import { scanJson } from "../../lib/scan-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { controlName, type Field } from "./form-fields.ts";
import { ruleOf } from "./schema-rows.ts";

export type FormReading =
  | { readonly kind: "values"; readonly values: JsonObject }
  /** A sentence for each field that is wrong. */
  | { readonly kind: "errors"; readonly errors: ReadonlyMap<Field, string> };

/** `undefined` for a value that was left out. */
type Value = { readonly value: unknown } | { readonly error: string } | undefined;

export function readForm(
  form: URLSearchParams,
  fields: readonly Field[],
  prefix: string,
): FormReading {
  const errors = new Map<Field, string>();
  const members: [string, unknown][] = [];
  for (const field of fields) {
    const read = valueOf(field, form.getAll(controlName(field, prefix)));
    if (read === undefined) {
      if (field.isRequired) errors.set(field, "This is needed.");
    } else if ("error" in read) {
      errors.set(field, read.error);
    } else if (field.name === undefined) {
      members.push(...Object.entries(read.value as JsonObject));
    } else {
      members.push([field.name, read.value]);
    }
  }
  // A member may be called `__proto__`, which this makes like any other.
  const values = Object.fromEntries(members);
  return errors.size > 0 ? { kind: "errors", errors } : { kind: "values", values };
}

function valueOf(field: Field, texts: readonly string[]): Value {
  const { kind, options, isRequired } = field;
  if (kind === "choices") {
    const chosen = options.filter(({ key }) => texts.includes(key)).map(({ value }) => value);
    if (chosen.length === 0 && !isRequired) return undefined;
    return bounded(field, chosen, chosen.length, ["minItems", "maxItems"]);
  }
  // A form sends each line break as two characters (HTML, constructing the form data set).
  const text = (texts[0] ?? "").replaceAll("\r\n", "\n");
  if (text === "") return undefined;
  switch (kind) {
    case "text":
    case "line":
      return bounded(field, text, Array.from(text).length, ["minLength", "maxLength"]);
    case "choice": {
      const option = options.find(({ key }) => key === text);
      return option === undefined ? { error: "Choose one of these." } : { value: option.value };
    }
    case "json":
      return jsonIn(field, text);
    default:
      return numberIn(field, text);
  }
}

function numberIn(field: Field, text: string): Value {
  const value = tryLossless(text.trim());
  if (!isJsonNumber(value)) return { error: "This is not a number." };
  if (field.kind === "integer" && !isJsonInteger(value)) {
    return { error: "This is not a whole number." };
  }
  return bounded(field, value, nearest(value), ["minimum", "maximum"]);
}

/** Deeper values are refused at every door. */
const MAX_DEPTH = 32;

function jsonIn({ schema, name }: Field, text: string): Value {
  const { depth, inexact } = scanJson(text, { depth: MAX_DEPTH });
  if (depth > MAX_DEPTH) return { error: `This nests deeper than ${MAX_DEPTH} levels.` };
  const value = tryLossless(text, inexact);
  if (value === undefined) return { error: "This is not JSON." };
  const { type } = schema;
  if (name === undefined || type === "object") {
    return isObject(value) ? { value } : { error: "This is not an object, as {…} is." };
  }
  const isList = Array.isArray(value);
  return type === "array" && !isList ? { error: "This is not a list, as […] is." } : { value };
}

/** @param size what the schema's keywords bound. */
function bounded(
  { schema }: Field,
  value: unknown,
  size: number,
  [least, most]: readonly [string, string],
): Value {
  for (const [keyword, isBroken] of [
    [least, (bound: number) => size < bound],
    [most, (bound: number) => size > bound],
  ] as const) {
    const bound = schema[keyword];
    if (!isJsonNumber(bound) || !isBroken(nearest(bound))) continue;
    return { error: `This has to be ${ruleOf(schema, keyword)}.` };
  }
  return { value };
}
