/**
 * A JSON Schema as the fields of a form: one for each value of the outermost object. What a browser has no
 * field for is entered as JSON, and so is the whole of an object whose members are not known.
 */

import { isJsonNumber, textOfNumber } from "../../lib/lossless-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { asciiJson } from "./ascii-json.ts";
import { resolved } from "./resolve.ts";
import { rulesOf } from "./schema-rows.ts";

export interface Field {
  /** The member's name; `undefined` for the field that takes the whole object. */
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** `line`: a text without line breaks. `choices`: any number of the options. */
  readonly kind: "text" | "line" | "number" | "integer" | "choice" | "choices" | "json";
  /** In the order of the schema; of a choice alone. */
  readonly options: readonly FieldOption[];
  readonly rules: readonly string[];
  /** What the form has in it at first. */
  readonly preset: readonly string[];
  /** Resolved. */
  readonly schema: JsonObject;
}

interface FieldOption {
  /** In the form: the value as JSON. */
  readonly key: string;
  readonly label: string;
  readonly value: unknown;
}

const MAX_FIELDS = 60;
/** A text that may be longer gets a field that has lines. */
const MAX_LINE = 100;

export function formFields(schema: unknown): readonly Field[] {
  const root = isObject(schema) ? schema : {};
  const { properties, required, additionalProperties: more } = resolved(root, root);
  const members = isObject(properties) ? Object.entries(properties) : [];
  const isFree = properties === undefined ? more !== false : more === true || isObject(more);
  if (isFree || members.length > MAX_FIELDS) return [wholeField(root)];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return members.map(([name, member]) => fieldOf(name, resolved(member, root), needed, root));
}

function wholeField(schema: JsonObject): Field {
  return {
    ...{ name: undefined, title: "Arguments", description: undefined, isRequired: false },
    ...{ kind: "json", options: [], rules: [], preset: [], schema: { type: "object" } },
    ...(schema["default"] !== undefined && { preset: [JSON.stringify(schema["default"])] }),
  };
}

function fieldOf(
  name: string,
  schema: JsonObject,
  needed: readonly unknown[],
  root: JsonObject,
): Field {
  const { title, description, default: preset } = schema;
  const [kind, options] = kindOf(schema, root);
  return {
    ...{ name, kind, options, schema },
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
    isRequired: needed.includes(name),
    // What a value may be; what it is by default stands in the field.
    rules: options.length > 0 ? [] : rulesOf({ ...schema, default: undefined }),
    preset: preset === undefined || preset === null ? [] : textsOf(kind, preset),
  };
}

function kindOf(
  schema: JsonObject,
  root: JsonObject,
): readonly [Field["kind"], readonly FieldOption[]] {
  const options = optionsOf(schema);
  if (options.length > 0) return ["choice", options];
  const { type, items, format, pattern, maxLength } = schema;
  switch (type) {
    case "boolean":
      return ["choice", [optionOf(true, "Yes"), optionOf(false, "No")]];
    case "number":
    case "integer":
      return [type, []];
    case "string": {
      const isShort = typeof maxLength === "number" && maxLength <= MAX_LINE;
      return [isShort || format !== undefined || pattern !== undefined ? "line" : "text", []];
    }
    case "array": {
      const each = optionsOf(resolved(items, root));
      return each.length > 0 ? ["choices", each] : ["json", []];
    }
    default:
      return ["json", []];
  }
}

function optionOf(value: unknown, label?: unknown): FieldOption {
  const key = asciiJson(value);
  const name = typeof value === "string" ? value : key;
  return { key, label: typeof label === "string" ? label : name, value };
}

/** An enumeration in any of the spellings of elicitation (2025-06-18 to 2026-07-28), and of tools. */
function optionsOf(schema: JsonObject): readonly FieldOption[] {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    return values.map((value: unknown, n) => optionOf(value, Array.isArray(names) && names[n]));
  }
  if (Object.hasOwn(schema, "const")) return [optionOf(schema["const"])];
  const parts = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(parts)) return [];
  const titled = parts.filter(
    (part: unknown): part is JsonObject => isObject(part) && Object.hasOwn(part, "const"),
  );
  if (titled.length < parts.length) return [];
  return titled.map(({ const: value, title }) => optionOf(value, title));
}

/** @returns a value as the texts of its field. */
function textsOf(kind: Field["kind"], value: unknown): readonly string[] {
  if (kind === "choices") return Array.isArray(value) ? value.map(asciiJson) : [];
  if (kind === "choice") return [asciiJson(value)];
  if (kind === "json") return [JSON.stringify(value, null, 2)];
  if (typeof value === "string") return [value];
  return isJsonNumber(value) ? [textOfNumber(value)] : [];
}

/** The name of a field in the form. @param prefix tells the forms of a page apart. */
export function controlName({ name }: Field, prefix: string): string {
  return name === undefined ? prefix : `${prefix}:${asciiJson(name).slice(1, -1)}`;
}

/** What a form has in its fields. */
export type Typed = (field: Field, prefix: string) => readonly string[];

/** What a person has sent. */
export function typedIn(form: URLSearchParams): Typed {
  return (field, prefix) => form.getAll(controlName(field, prefix));
}

/** @param values of an earlier run; without them, what the schema has by default. */
export function typedFrom(values: JsonObject | undefined): Typed {
  return ({ name, kind, preset }) => {
    if (values === undefined) return preset;
    const value =
      name === undefined ? values : Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : textsOf(kind, value);
  };
}
