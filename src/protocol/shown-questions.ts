/**
 * Elicitations as people are shown them: in text without hidden characters, and with no URL but one
 * of a web page. The name of the server stands before the message, so the message must not be able
 * to erase it.
 */

import { cleanProse } from "../lib/clean-text.ts";
import { isLoopback } from "../lib/loopback.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";

/** @param params of `elicitation/create`, or an entry of `data.elicitations` (2025-11-25, -32042). */
export function showElicitation(params: JsonObject): JsonObject {
  const { message, requestedSchema, url } = params;
  return {
    ...params,
    ...(typeof message === "string" ? { message: cleanProse(message) } : {}),
    ...(requestedSchema === undefined ? {} : { requestedSchema: showForm(requestedSchema) }),
    ...(typeof url === "string" ? { url: showUrl(url) } : {}),
  };
}

/**
 * True for an elicitation whose URL is not one of a page on the web.
 *
 * @param isLocal the server is on this machine, where its pages may be too.
 */
export function hasForbiddenUrl({ mode, url }: JsonObject, isLocal: boolean): boolean {
  if (mode !== "url" && url === undefined) return false;
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (parsed === null) return true;
  const { protocol, hostname } = parsed;
  return protocol !== "https:" && !(isLocal && protocol === "http:" && isLoopback(hostname));
}

/** The texts of the form; keys and values are data, and come back unchanged. */
const LABELS: ReadonlySet<string> = new Set(["title", "description", "enumNames"]);

function showForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(showForm);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    if (key === "properties" && isObject(member)) return [key, showProperties(member)];
    return [key, LABELS.has(key) ? showLabels(member) : showForm(member)];
  });
  return Object.fromEntries(members);
}

/** A property may have the name of a label. */
function showProperties(properties: JsonObject): JsonObject {
  const shown = Object.entries(properties).map(([name, schema]) => [name, showForm(schema)]);
  return Object.fromEntries(shown);
}

function showLabels(labels: unknown): unknown {
  if (Array.isArray(labels)) return labels.map(showLabels);
  return typeof labels === "string" ? cleanProse(labels) : labels;
}

/** A plain URL stays unchanged; any other is shown as a browser parses it, with hidden characters encoded. */
function showUrl(url: string): string {
  const isPlain = /^https?:\/\/\S+$/i.test(url) && cleanProse(url) === url;
  return isPlain ? url : (URL.parse(url)?.href ?? url);
}
