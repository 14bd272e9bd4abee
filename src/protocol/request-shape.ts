/**
 * The shapes that 2026-07-28 gives to the envelope of a request and to the filter of
 * `subscriptions/listen`. Objects are open, as they are in the schema (2026-07-28, schema: RequestMetaObject,
 * SubscriptionFilter).
 */

import { isJsonInteger } from "../lib/lossless-json.ts";
import { Meta } from "./envelope.ts";
import { isObject } from "./json-rpc.ts";
import type { Params } from "./message-members.ts";
import { isLogLevel, LOG_LEVEL_NAMES } from "./log-levels.ts";

interface Shape {
  readonly fits: (value: unknown) => boolean;
  /** Ends the sentence "… must be". */
  readonly name: string;
  readonly members: readonly (readonly [key: string, shape: Shape])[];
  readonly required: readonly string[];
  /** The shape of every element of an array, or of every member of a map. */
  readonly each?: Shape;
}

function plain(name: string, fits: Shape["fits"]): Shape {
  return { fits, name, members: [], required: [] };
}

function object(members: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape {
  return { fits: isObject, name: "an object", members: Object.entries(members), required };
}

function arrayOf(each: Shape): Shape {
  return { ...plain("an array", Array.isArray), each };
}

function mapOf(each: Shape): Shape {
  return { ...object({}), each };
}

const STRING = plain("a string", (value) => typeof value === "string");
const BOOLEAN = plain("a boolean", (value) => typeof value === "boolean");
const OBJECT = object({});

const ICON = object(
  {
    src: STRING,
    mimeType: STRING,
    sizes: arrayOf(STRING),
    theme: plain('"light" or "dark"', (value) => value === "light" || value === "dark"),
  },
  ["src"],
);

const ENVELOPE = object(
  {
    [Meta.protocolVersion]: STRING,
    [Meta.clientCapabilities]: object({
      elicitation: object({ form: OBJECT, url: OBJECT }),
      sampling: object({ context: OBJECT, tools: OBJECT }),
      roots: OBJECT,
      extensions: mapOf(OBJECT),
      experimental: mapOf(OBJECT),
    }),
    [Meta.clientInfo]: object(
      {
        name: STRING,
        version: STRING,
        title: STRING,
        description: STRING,
        websiteUrl: STRING,
        icons: arrayOf(ICON),
      },
      ["name", "version"],
    ),
    [Meta.logLevel]: plain(`one of ${LOG_LEVEL_NAMES}`, isLogLevel),
    progressToken: plain(
      "a string or an integer",
      (value) => typeof value === "string" || isJsonInteger(value),
    ),
  },
  [Meta.protocolVersion, Meta.clientCapabilities],
);

const LISTEN_FILTER = object({
  toolsListChanged: BOOLEAN,
  promptsListChanged: BOOLEAN,
  resourcesListChanged: BOOLEAN,
  resourceSubscriptions: arrayOf(STRING),
  // A member of the extension for tasks.
  taskIds: arrayOf(STRING),
});

/**
 * Checks the shape of a request of 2026-07-28 before any part of it is used.
 *
 * @returns one sentence that names the first member of a wrong shape, and the problem.
 */
export function misshapenMember(method: string, params: Params | undefined): string | undefined {
  const inEnvelope = misfit(params?._meta, ENVELOPE);
  if (inEnvelope !== undefined) return `params._meta${inEnvelope}`;
  if (method !== "subscriptions/listen") return undefined;
  const inFilter = misfit(params?.notifications, LISTEN_FILTER);
  return inFilter === undefined ? undefined : `params.notifications${inFilter}`;
}

/** @returns the rest of the path to the first misfit, and the problem. */
function misfit(
  value: unknown,
  { fits, name, members, required, each }: Shape,
): string | undefined {
  if (!fits(value)) return value === undefined ? " is missing" : ` must be ${name}`;
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of required) if (object[key] === undefined) return `${step(key)} is missing`;
  for (const [key, shape] of members) {
    const member = object[key];
    const problem = member === undefined ? undefined : misfit(member, shape);
    if (problem !== undefined) return step(key) + problem;
  }
  if (each === undefined) return undefined;
  for (const key of Object.keys(object)) {
    const problem = misfit(object[key], each);
    if (problem !== undefined) return step(key) + problem;
  }
  return undefined;
}

function step(key: string): string {
  return /^\w+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
