/** Translates a listed tool for a client of another revision or era than its server's. */

import { isObject, type JsonObject } from "../json-rpc.ts";
import { hasLawfulBindings } from "../param-headers.ts";
import type { Era, LegacyRevision } from "../revisions.ts";
import { asObject, isObjectSchema, wrapSchema } from "./output.ts";

/** A legacy client, and the server whose messages it reads. */
export interface LegacyReader {
  readonly revision: LegacyRevision;
  /** The era of the server. */
  readonly era: Era;
  /** True when the client may use tasks of 2025-11-25 at this server. */
  readonly hasTasks: boolean;
}

export function toLegacyTool(tool: JsonObject, reader: LegacyReader): JsonObject {
  const { execution: _, ...plain } = tool;
  const { inputSchema, outputSchema } = tool;
  return {
    ...(reader.hasTasks ? tool : plain),
    ...(inputSchema === undefined ? {} : { inputSchema: withPlainProperties(inputSchema) }),
    ...(outputSchema === undefined ? {} : { outputSchema: toLegacyOutput(outputSchema, reader) }),
  };
}

function toLegacyOutput(schema: unknown, { era }: LegacyReader): unknown {
  if (isObjectSchema(schema)) return withPlainProperties(schema);
  return (era === "legacy" ? narrowed(schema) : undefined) ?? wrapSchema(schema);
}

/**
 * The output of a legacy server is an object, even where its schema leaves that open. So the schema may
 * require an object, and the values need no wrapping.
 *
 * @returns `undefined` for a schema that excludes objects.
 */
function narrowed(schema: unknown): unknown {
  const { type, ...rest } = asObject(schema);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type ?? "object"];
  return types.includes("object") ? withPlainProperties({ ...rest, type: "object" }) : undefined;
}

/** Before 2026-07-28 the schemas of properties are objects: one that is not makes the whole list fail. */
function withPlainProperties(schema: unknown): unknown {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(schema) || !isObject(properties)) return schema;
  const plain = Object.entries(properties).map(([name, part]) => [name, asObject(part)]);
  return { ...schema, properties: Object.fromEntries(plain) as JsonObject };
}

/** @returns the tool without `execution`, which only 2025-11-25 has. */
export function toModernTool(tool: JsonObject): JsonObject {
  const { execution: _, ...rest } = tool;
  if (hasLawfulBindings(rest)) return rest;
  // A client MUST drop a tool whose annotations break the rules (2026-07-28, tools). A legacy server does
  // not know these rules, so only the annotations are dropped.
  return { ...rest, inputSchema: withoutAnnotations(rest["inputSchema"]) };
}

function withoutAnnotations(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => key !== "x-mcp-header");
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutAnnotations(part)]));
}
