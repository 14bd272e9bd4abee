/**
 * `Mcp-Param-*`: tool arguments that a schema asks to be mirrored into headers with
 * `x-mcp-header` (2026-07-28, Streamable HTTP, custom headers). Reads the bindings out of a
 * schema, judges a request's headers by them, and computes the headers of the next hop.
 */

import { normalForm } from "../lib/decimal.ts";
import { isJsonNumber, type JsonNumber, textOfNumber } from "../lib/lossless-json.ts";
import { decodeHeaderValue, encodeHeaderValue } from "./header-value.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";

export const PARAM_HEADER_PREFIX = "mcp-param-";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110, 5.6.2
// Not `number`: its text differs from one implementation to the next.
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Schemas come from outside and may nest without end; deeper levels are ignored. */
const MAX_DEPTH = 100;
/** Keywords whose value is data, not a schema: `x-mcp-header` has no meaning in there. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

export interface ParamBinding {
  /** Lower case, with the prefix: as `Headers` yields it. */
  readonly header: string;
  readonly path: readonly string[];
}

export type BindingsReading =
  | { readonly kind: "bindings"; readonly bindings: readonly ParamBinding[] }
  | { readonly kind: "invalid"; readonly problem: string };

/**
 * The bindings of one tool. Only properties reachable purely through nested `properties` count.
 *
 * @returns `invalid` when an annotation breaks a rule: a client over HTTP MUST then drop the tool.
 */
export function readParamBindings(inputSchema: unknown): BindingsReading {
  const bindings: ParamBinding[] = [];
  const seen = new Set<string>();

  function bind(schema: JsonObject, path: readonly string[] | undefined): string | undefined {
    const annotation = schema["x-mcp-header"];
    if (annotation === undefined) return undefined;
    if (path === undefined || path.length === 0) {
      return "x-mcp-header stands where no plain chain of properties leads";
    }
    const at = path.join(".");
    if (typeof annotation !== "string" || !TOKEN.test(annotation)) {
      return `x-mcp-header of "${at}" is not a header token`;
    }
    if (!MIRRORED_TYPES.has(schema["type"])) {
      return `x-mcp-header of "${at}" needs a string, integer or boolean property`;
    }
    const header = PARAM_HEADER_PREFIX + annotation.toLowerCase();
    if (seen.has(header)) return `x-mcp-header "${annotation}" is used twice`;
    seen.add(header);
    bindings.push({ header, path });
    return undefined;
  }

  /** @param path of the property, or `undefined` below anything but `properties`. */
  function visit(
    schema: unknown,
    path: readonly string[] | undefined,
    depth = 0,
  ): string | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const deeper = (value: unknown, below?: readonly string[]): string | undefined =>
      visit(value, below, depth + 1);
    if (Array.isArray(schema)) return firstProblem(schema, (element) => deeper(element));
    if (!isObject(schema)) return undefined;
    return (
      bind(schema, path) ??
      firstProblem(Object.entries(schema), ([keyword, value]) => {
        if (DATA_KEYWORDS.has(keyword)) return undefined;
        if (keyword !== "properties" || !isObject(value)) return deeper(value);
        return firstProblem(Object.entries(value), ([name, property]) =>
          deeper(property, path === undefined ? undefined : [...path, name]),
        );
      })
    );
  }

  const problem = isObject(inputSchema) ? visit(inputSchema, []) : undefined;
  return problem === undefined ? { kind: "bindings", bindings } : { kind: "invalid", problem };
}

/** A tool whose annotations break the rules MUST be dropped by a client over HTTP. */
export function hasLawfulBindings(tool: unknown): boolean {
  return !isObject(tool) || readParamBindings(tool["inputSchema"]).kind === "bindings";
}

function firstProblem<T>(
  items: readonly T[],
  judge: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = judge(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function argumentAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

type Mirrorable = string | JsonNumber | boolean;

function isMirrorable(value: unknown): value is Mirrorable {
  return typeof value === "string" || isJsonNumber(value) || typeof value === "boolean";
}

/** Integers are compared as numbers: `42.0` is `42` (SHOULD). */
function agrees(decoded: string, argument: Mirrorable): boolean {
  if (!isJsonNumber(argument)) return decoded === String(argument);
  const form = normalForm(decoded);
  return form !== undefined && form === normalForm(textOfNumber(argument));
}

/** A number as the body has it. */
function textOf(argument: Mirrorable): string {
  return isJsonNumber(argument) ? textOfNumber(argument) : String(argument);
}

/**
 * Judges the headers of an inbound call by the tool's bindings.
 *
 * @returns a sentence that names the first header that is missing, unexpected or different.
 */
export function checkParamHeaders(
  bindings: readonly ParamBinding[],
  headers: Headers,
  args: unknown,
): string | undefined {
  for (const { header, path } of bindings) {
    const argument = argumentAt(args, path);
    const raw = headers.get(header);
    if (!isMirrorable(argument)) {
      // A null or absent argument has no header, and the server MUST NOT expect one.
      if (raw !== null) return `${header} is sent, but "${path.join(".")}" has no value`;
      continue;
    }
    if (raw === null) return `${header} is missing; it mirrors "${path.join(".")}"`;
    const decoded = decodeHeaderValue(raw);
    if (decoded === undefined) return `${header} is not valid base64 of UTF-8`;
    if (!agrees(decoded, argument)) return `${header} differs from "${path.join(".")}"`;
  }
  return undefined;
}

/** The headers that mirror these arguments on the next hop. */
export function paramHeaders(
  bindings: readonly ParamBinding[],
  args: JsonObject | undefined,
): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (const { header, path } of bindings) {
    const argument = argumentAt(args, path);
    if (isMirrorable(argument)) headers.push([header, encodeHeaderValue(textOf(argument))]);
  }
  return headers;
}
