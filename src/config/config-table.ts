/** A table of the configuration that has these keys and no others, and its mistakes as sentences. */

import * as z from "zod/mini";

import { closest } from "../lib/closest.ts";
import { lazy } from "../lib/lazy.ts";
import { tryJson } from "../lib/try-json.ts";

/** @param alsoKnown keys that are understood elsewhere: one of them may be meant by a mistyped key. */
export const table = <const T extends z.core.$ZodShape>(
  shape: T,
  alsoKnown: readonly string[] = [],
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has keys that this version does not know: ${suggested(issue.keys ?? [], [...Object.keys(shape), ...alsoKnown])}`
        : "must be a table",
  });

function suggested(keys: readonly string[], known: readonly string[]): string {
  const named = keys.map((key) => {
    const meant = closest(key, known);
    return meant === undefined ? key : `${key} (did you mean "${meant}"?)`;
  });
  return named.join(", ");
}

export const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `must be one of ${quoted(values)}` });

export const text = lazy(() =>
  z.string({ error: "must be a string" }).check(z.minLength(1, { error: "must not be empty" })),
);
export const texts = lazy(() => z.array(text(), { error: "must be a list of strings" }));

/** What people read instead of a name. */
export const label = lazy(() =>
  text().check(z.maxLength(60, { error: "must have at most 60 characters" })),
);

/** Names in a sentence, like `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** @returns a sentence for each mistake. @param key the name of the table in sentences. */
export function mistakesIn(key: string, { issues }: z.core.$ZodError): readonly string[] {
  return issues.map(({ path, message }) => `${[key, ...path].join(".")}: ${message}.`);
}

export function isUnset(value: unknown): boolean {
  return value === undefined || value === "";
}

export const NOT_JSON = "is a string that is not valid JSON; write a table or a JSON object";

/** Parses a table of wrangler.toml, or the same table as a JSON string of `--var`. */
export function parseTable(key: string, value: unknown, problems: string[]): unknown {
  if (typeof value !== "string") return value;
  const parsed = tryJson(value);
  if (parsed === undefined) {
    problems.push(`${key} ${NOT_JSON}.`);
  }
  return parsed;
}
