/** One candidate of a form, with what was typed and what is wrong with that. */

import type { AddedServer } from "../../observability/added-servers.ts";
import type { SecretEdit } from "../../observability/edited-servers.ts";
import type { Candidate } from "../../observability/pasted-servers.ts";
import type { NewEntry, ServerRegistry } from "./server-registry.ts";

export interface FilledIn {
  readonly candidate: Candidate;
  readonly isChosen: boolean;
  /** It is a draft of this person already: they have pressed the button before. */
  readonly isKept: boolean;
  /** As it would be added; as it was pasted where a value is wrong. */
  readonly entry: NewEntry;
  readonly mistakes: readonly string[];
  /** What was typed into the fields that are no secrets, to be shown again. */
  readonly typed: Readonly<Record<string, string>>;
  /** Something was typed into the others. */
  readonly hasSecrets: boolean;
}

/** @param control the text in a control of the form: `slug`, or `field-NAME`. */
export function filledIn(
  registry: Pick<ServerRegistry, "fillIn">,
  candidate: Candidate,
  control: (name: string) => string | undefined,
): Omit<FilledIn, "isChosen" | "isKept"> {
  const { fields, label } = candidate;
  const values: Record<string, string> = {};
  const typed: Record<string, string> = {};
  let hasSecrets = false;
  for (const { name, isSecret } of fields) {
    const value = control(`field-${name}`);
    if (value === undefined) continue;
    values[name] = value;
    if (!isSecret) typed[name] = value;
    else if (value.trim() !== "") hasSecrets = true;
  }
  const slug = control("slug")?.trim() ?? candidate.slug;
  const filled = registry.fillIn(candidate, values);
  if ("sentence" in filled) {
    const { entry, secrets } = candidate;
    return {
      candidate,
      entry: { slug, label, entry, secrets },
      mistakes: [filled.sentence],
      ...{ typed, hasSecrets },
    };
  }
  return { candidate, entry: { slug, label, ...filled }, mistakes: [], typed, hasSecrets };
}

/** True of a draft of this person of which the entry would change nothing, its secrets included. */
export async function isKeptAs(
  registry: Pick<ServerRegistry, "edit">,
  known: AddedServer | undefined,
  { label = "", entry, secrets }: NewEntry,
  person: string,
): Promise<boolean> {
  if (known?.state !== "draft" || known.changedBy !== person) return false;
  if (JSON.stringify(known.entry) !== JSON.stringify(entry)) return false;
  const entered = Object.entries(secrets).map(([name, value]): [string, SecretEdit] => [
    name,
    { kind: "replaced", value },
  ]);
  const outcome = await registry.edit(known, {
    ...{ label, url: String(entry["url"]), headers: {}, secrets: Object.fromEntries(entered) },
  });
  return outcome.kind === "edited" && outcome.differences.length === 0;
}
