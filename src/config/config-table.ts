/** A table of the configuration that has these keys and no others, and its mistakes as sentences. */

import * as z from "zod/mini";

export const table = <const T extends z.core.$ZodShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has keys that this version does not know: ${issue.keys?.join(", ")}`
        : "must be a table",
  });

/** @returns a sentence for each mistake. @param key the name of the table in sentences. */
export function mistakesIn(key: string, { issues }: z.core.$ZodError): readonly string[] {
  return issues.map(({ path, message }) => `${[key, ...path].join(".")}: ${message}.`);
}
