/**
 * The questions that a client of either era has declared to support: a server must ask no others
 * (2026-07-28, multi round-trip requests: MUST NOT; 2025-11-25, lifecycle).
 */

import type { Call } from "../exchange.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import type { Params } from "../message-members.ts";

/** The abilities that a question may need, as phrases for a sentence. */
const WORDS = {
  roots: "roots",
  sampling: "sampling",
  "sampling.tools": "sampling with tools",
  "sampling.context": "sampling with context",
  elicitation: "elicitation",
  "elicitation.form": "elicitation by form",
  "elicitation.url": "elicitation by URL",
} as const;

type Ability = keyof typeof WORDS;

/**
 * True when a client has declared an ability. An `elicitation` without a mode means forms
 * (2025-11-25, elicitation: MUST, because 2025-06-18 has no modes).
 */
export function canDo(capabilities: JsonObject, ability: Ability): boolean {
  const [name = "", part] = ability.split(".");
  const declared = capabilities[name];
  if (!isObject(declared)) return false;
  if (part === undefined || isObject(declared[part])) return true;
  return ability === "elicitation.form" && !isObject(declared["url"]);
}

/** @returns the first ability that a question needs and the client lacks; `undefined` for none. */
export function lackingFor(
  { method, params = {} }: Call,
  capabilities: JsonObject,
): string | undefined {
  const needed = neededFor(method, params);
  if (needed === undefined) return "requests of this kind";
  const lacking = needed.find((ability) => !canDo(capabilities, ability));
  return lacking === undefined ? undefined : WORDS[lacking];
}

/** @returns `undefined` for a question that clients are never asked. */
function neededFor(method: string, params: Params): readonly Ability[] | undefined {
  switch (method) {
    case "elicitation/create":
      return neededForMode(modeOf(params));
    case "sampling/createMessage":
      return hasTools(params) ? ["sampling", "sampling.tools"] : ["sampling"];
    case "roots/list":
      return ["roots"];
    default:
      return undefined;
  }
}

function neededForMode(mode: unknown): readonly Ability[] | undefined {
  return mode === "form" || mode === "url" ? ["elicitation", `elicitation.${mode}`] : undefined;
}

export function modeOf({ mode }: Params): unknown {
  return mode ?? "form";
}

const TOOL_CONTENT: ReadonlySet<unknown> = new Set(["tool_use", "tool_result"]);

/** True for a request with tools, or with messages about the use of tools. */
export function hasTools({ tools, toolChoice, messages }: Params): boolean {
  if (tools !== undefined || toolChoice !== undefined) return true;
  const all: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return all
    .flatMap((message) => (isObject(message) ? message["content"] : []))
    .some((part) => isObject(part) && TOOL_CONTENT.has(part["type"]));
}

/**
 * The capabilities that a server requires and the client has not declared (2026-07-28, -32021).
 *
 * @param required as the server sent it; only known abilities are named.
 */
export function lackingOf(required: unknown, declared: JsonObject): readonly string[] {
  if (!isObject(required)) return [];
  const lacking = Object.entries(WORDS).filter(([ability]) => {
    const [name = "", part] = ability.split(".");
    const asked = required[name];
    const isAsked = isObject(asked) && (part === undefined || isObject(asked[part]));
    return isAsked && !canDo(declared, ability as Ability);
  });
  // "sampling with tools" implies "sampling".
  const parts = lacking.filter(([ability]) => ability.includes("."));
  const isSaid = (ability: string): boolean =>
    parts.some(([part]) => part.startsWith(`${ability}.`));
  return lacking.filter(([ability]) => !isSaid(ability)).map(([, words]) => words);
}

/** A server's question translated for a client, or the reason why the client cannot be asked. */
export type Askable =
  | { readonly kind: "ask"; readonly call: Call }
  /** `lacking` is a phrase for a sentence: "elicitation of several choices". */
  | { readonly kind: "unsupported"; readonly lacking: string };

export function asks(call: Call): Askable {
  return { kind: "ask", call };
}

/** @param lacking in the gateway's own words: text from a server is never quoted. */
export function lacks(lacking: string): Askable {
  return { kind: "unsupported", lacking };
}
