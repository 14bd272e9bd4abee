// Tools whose point is their schema: a rich JSON Schema 2020-12 input, an input mirrored into HTTP
// headers, and a structured output.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import type { JsonSchemaType, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { text } from "./results.ts";

/** Written as JSON, because a schema library would not keep these keywords as they are. */
const contactSchema: JsonSchemaType = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a JSON Schema keyword, not a promise
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

export function addSchemaTools(server: McpServer): void {
  server.registerTool(
    "json_schema_2020_12_tool",
    {
      description: "Repeats its arguments, which follow a JSON Schema 2020-12",
      inputSchema: fromJsonSchema(contactSchema),
    },
    (args) => text(`JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`),
  );

  server.registerTool(
    "test_x_mcp_header",
    {
      description: "Has arguments that 2026-07-28 clients repeat in Mcp-Param headers",
      inputSchema: z.object({
        region: z.string().optional().meta({ "x-mcp-header": "Region" }),
        priority: z.int().optional().meta({ "x-mcp-header": "Priority" }),
        note: z.string().optional(),
      }),
    },
    ({ region = "none", priority = "none" }) => text(`region=${region} priority=${priority}`),
  );

  server.registerTool(
    "test_structured",
    {
      description: "Returns structured content that fits its output schema",
      outputSchema: z.object({
        city: z.string(),
        temperature: z.number(),
        tags: z.array(z.string()),
      }),
    },
    () => {
      const weather = { city: "Reykjavik", temperature: -1.5, tags: ["wind", "snow"] };
      return { ...text(JSON.stringify(weather)), structuredContent: weather };
    },
  );
}
