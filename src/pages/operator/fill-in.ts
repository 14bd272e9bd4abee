/** Makes the entry of a server out of what was pasted and what was typed. Pure. */

import type { Candidate, Field } from "../../observability/pasted-servers.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { NewEntry } from "./server-registry.ts";

/** One candidate with what was typed, and what is wrong with that. */
export interface FilledIn {
  readonly candidate: Candidate;
  readonly entry: NewEntry;
  readonly isChosen: boolean;
  readonly mistakes: readonly string[];
  /** What was typed into the fields that are no secrets, to be shown again. */
  readonly typed: Readonly<Record<string, string>>;
}

/**
 * @param typed what stands in a control of the form: `slug`, or `field-NAME`. An empty field means what was pasted.
 */
export function fillIn(
  candidate: Candidate,
  typed: (control: string) => string | undefined,
  isChosen: boolean,
): FilledIn {
  const values = candidate.fields.map((field) => {
    const value = typed(`field-${field.name}`) ?? "";
    const pasted = field.initial ?? candidate.secrets[field.name] ?? "";
    return [field, value === "" ? pasted : value] as const;
  });
  const open = values.filter(([{ isSecret }]) => !isSecret);
  const secrets = values.filter(([{ isSecret }, value]) => isSecret && value !== "");
  const { label } = candidate;
  return {
    candidate,
    isChosen,
    entry: {
      slug: typed("slug")?.trim() ?? candidate.slug,
      label,
      entry: open.reduce(
        (entry, [{ name }, value]) => written(entry, name, value),
        candidate.entry,
      ),
      secrets: Object.fromEntries(secrets.map(([{ name }, value]) => [name, value])),
    },
    mistakes: values.flatMap(([field, value]) => mistakeIn(field, value) ?? []),
    typed: Object.fromEntries(open.map(([{ name }, value]) => [name, value])),
  };
}

function mistakeIn({ label, isRequired, choices }: Field, value: string): string | undefined {
  if (value === "") return isRequired ? `${label}: a value is needed.` : undefined;
  if (choices !== undefined && !choices.includes(value)) {
    return `${label}: choose one of what there is.`;
  }
  return undefined;
}

/** What is no secret is written into the entry itself, wherever its placeholder stands. */
function written(entry: JsonObject, name: string, value: string): JsonObject {
  const write = (part: unknown): unknown => {
    if (typeof part === "string") return part.replaceAll(`\${${name}}`, () => value);
    if (Array.isArray(part)) return part.map(write);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, write(each)]));
  };
  return write(entry) as JsonObject;
}
