/** Puts the values of a form into a candidate. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { replacePlaceholders } from "../clients/placeholders.ts";
import { isHeader } from "../config-fields.ts";
import { quoted } from "../config-table.ts";
import type { Candidate, Field, Filled } from "../../observability/pasted-servers.ts";
import { mapTemplates } from "./templates.ts";

/** @param values by the names of the fields. Without one, a field has its initial or pasted value. */
export function fillIn(
  candidate: Pick<Candidate, "entry" | "fields" | "secrets">,
  values: Readonly<Record<string, string>>,
): Filled {
  const filled = new Map<string, { readonly value: string; readonly isSecret: boolean }>();
  for (const field of candidate.fields) {
    const { name, isSecret } = field;
    const value = valueOf(field, candidate.secrets, values);
    const sentence = refusal(field, value);
    if (sentence !== undefined) return { sentence };
    // What stands in the entry is read again: there, this could mean a secret.
    filled.set(name, { value, isSecret: isSecret || /[${}]/.test(value) });
  }
  const address = fillAddress(candidate.entry, filled);
  if (address === undefined) return { sentence: "These values make no http or https address." };
  return fillTemplates(address, filled);
}

type Values = ReadonlyMap<string, { readonly value: string; readonly isSecret: boolean }>;

function valueOf(
  { name, isSecret, initial = "" }: Field,
  pasted: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
): string {
  const given = Object.hasOwn(values, name) ? values[name]?.trim() : undefined;
  // A secret is never shown, so an empty field does not mean that there is none.
  if (!isSecret) return given ?? initial;
  const kept = Object.hasOwn(pasted, name) ? pasted[name] : undefined;
  return given === undefined || given === "" ? (kept ?? "") : given;
}

function refusal({ label, isRequired, choices }: Field, value: string): string | undefined {
  if (value === "") return isRequired ? `"${label}" needs a value.` : undefined;
  if (choices === undefined || choices.includes(value)) return undefined;
  return `"${label}" must be one of ${quoted(choices)}.`;
}

function fillAddress(entry: JsonObject, values: Values): JsonObject | undefined {
  const { url: template } = entry;
  if (typeof template !== "string") return entry;
  const url = replacePlaceholders(template, (placeholder) => {
    const [name = ""] = placeholder?.names ?? [];
    return values.get(name)?.value ?? "";
  });
  const isAddress = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isAddress ? { ...entry, url } : undefined;
}

/** A header or key for which there is no value is left out. */
function fillTemplates(entry: JsonObject, values: Values): Filled {
  const secrets: Record<string, string> = {};
  const wrong: string[] = [];
  const filled = mapTemplates(entry, (template, key, table) => {
    let isComplete = true;
    const used: Record<string, string> = {};
    const fill = (isSent: boolean) =>
      replacePlaceholders(template, (placeholder) => {
        const [name = ""] = placeholder?.names ?? [];
        const { value = "", isSecret = true } = values.get(name) ?? {};
        if (value === "") isComplete = false;
        if (isSecret) used[name] = value;
        return isSent || !isSecret ? value : `\${${name}}`;
      });
    const sent = fill(true);
    if (!isComplete) return undefined;
    if (table === "headers" && !isHeader(key, sent)) wrong.push(key);
    Object.assign(secrets, used);
    return fill(false);
  });
  if (wrong.length > 0) return { sentence: `No header can have this value: ${quoted(wrong)}.` };
  return { entry: filled, secrets };
}
