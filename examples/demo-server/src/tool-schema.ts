// The schemas of tools, as JSON Schema without its `$schema`. The default dialect of MCP is the
// one that zod writes (2020-12), and older clients, like those on SDK 1.12, cannot compile a
// schema that names it.

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";

export function toolSchema<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): StandardSchemaWithJSON<z.input<z.ZodObject<Shape>>, z.output<z.ZodObject<Shape>>> {
  const { "~standard": standard } = z.object(shape);
  const { input, output } = standard.jsonSchema;
  return {
    "~standard": {
      ...standard,
      jsonSchema: {
        input: (options) => withoutDialect(input(options)),
        output: (options) => withoutDialect(output(options)),
      },
    },
  };
}

function withoutDialect(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...rest } = schema;
  return rest;
}
