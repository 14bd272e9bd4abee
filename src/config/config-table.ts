/** A table of the configuration that has these keys and no others. */

import * as z from "zod/mini";

export const table = <const T extends z.core.$ZodShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has keys that this version does not know: ${issue.keys?.join(", ")}`
        : "must be a table",
  });
