/**
 * What a client has declared that it can be asked, of either era: a server asks for nothing else
 * (2026-07-28, multi round-trip requests: MUST NOT; 2025-11-25, lifecycle).
 */

import type { Call } from "../exchange.ts";
import { isObject, type JsonObject, type Params } from "../json-rpc.ts";

/** What a question may need, in the words of a sentence. */
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
 * Whether a client has declared an ability. What is said of elicitation without naming a mode means
 * forms (2025-11-25, elicitation: MUST, for the sake of 2025-06-18, which has no modes).
 */
export function canDo(capabilities: JsonObject, ability: Ability): boolean {
  const [name = "", part] = ability.split(".");
  const declared = capabilities[name];
  if (!isObject(declared)) return false;
  if (part === undefined || isObject(declared[part])) return true;
  return ability === "elicitation.form" && !isObject(declared["url"]);
}

/** @returns what a client of these capabilities lacks for a question; `undefined` for nothing. */
export function lackingFor(
  { method, params = {} }: Call,
  capabilities: JsonObject,
): string | undefined {
  const needed = neededFor(method, params);
  if (needed === undefined) return "requests of this kind";
  const lacking = needed.find((ability) => !canDo(capabilities, ability));
  return lacking === undefined ? undefined : WORDS[lacking];
}

/** @returns `undefined` for what no client is asked. */
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

/** Tools to be used, or messages that tell of tools that were. */
export function hasTools({ tools, toolChoice, messages }: Params): boolean {
  if (tools !== undefined || toolChoice !== undefined) return true;
  const all: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return all
    .flatMap((message) => (isObject(message) ? message["content"] : []))
    .some((part) => isObject(part) && TOOL_CONTENT.has(part["type"]));
}

/**
 * What of the capabilities that a server requires was not declared (2026-07-28, -32021).
 *
 * @param required as the server sent it, so only what is known here is named.
 */
export function lackingOf(required: unknown, declared: JsonObject): readonly string[] {
  if (!isObject(required)) return [];
  const lacking = Object.entries(WORDS).filter(([ability]) => {
    const [name = "", part] = ability.split(".");
    const asked = required[name];
    const isAsked = isObject(asked) && (part === undefined || isObject(asked[part]));
    return isAsked && !canDo(declared, ability as Ability);
  });
  // "sampling with tools" says it all.
  const parts = lacking.filter(([ability]) => ability.includes("."));
  const isSaid = (ability: string): boolean =>
    parts.some(([part]) => part.startsWith(`${ability}.`));
  return lacking.filter(([ability]) => !isSaid(ability)).map(([, words]) => words);
}
