/**
 * What an API key or a service client is to be good for: offered, read back, and checked. What the
 * form sends is a browser's word, so nothing counts that was not offered.
 */

import { cleanText } from "../lib/clean-text.ts";
import type { Resource } from "../auth/resources.ts";
import { ADMIN, covers, USE } from "../auth/scopes.ts";
import type { CredentialField, CredentialForm } from "./view/credential-form.ts";

export interface Offer {
  /** The default one first. */
  readonly resources: readonly Resource[];
  /** Empty for what works until it is revoked. */
  readonly days: readonly number[];
}

export interface CredentialChoice {
  readonly label: string;
  readonly resources: readonly string[];
  readonly scopes: readonly string[];
  /** 0 for what works until it is revoked. */
  readonly days: number;
}

export interface ChoiceError {
  readonly field: CredentialField;
  readonly sentence: string;
}

export type ChoiceReading =
  | { readonly kind: "choice"; readonly choice: CredentialChoice }
  | { readonly kind: "error"; readonly choice: CredentialChoice; readonly error: ChoiceError };

/** Only an administrator has something to give for the operator's pages. */
export function resourcesFor(
  all: readonly Resource[],
  { isAdmin }: { readonly isAdmin: boolean },
): readonly Resource[] {
  return all.filter(({ scopes }) => isAdmin || !scopes.includes(ADMIN));
}

export function readChoice(form: URLSearchParams, offer: Offer): ChoiceReading {
  const choice: CredentialChoice = {
    label: cleanText(form.get("label") ?? ""),
    resources: form.getAll("resource"),
    scopes: form.getAll("scope"),
    days: offer.days.length === 0 ? 0 : Number(form.get("days")),
  };
  const error = errorIn(choice, offer);
  return error === undefined ? { kind: "choice", choice } : { kind: "error", choice, error };
}

function errorIn({ label, ...choice }: CredentialChoice, offer: Offer): ChoiceError | undefined {
  if (label === "") return { field: "label", sentence: "Give it a name." };
  const chosen = offer.resources.filter(({ id }) => choice.resources.includes(id));
  if (chosen.length === 0 || chosen.length < new Set(choice.resources).size) {
    return { field: "resource", sentence: "Choose what it may act on." };
  }
  const usable = new Set(chosen.flatMap(({ scopes }) => scopes));
  const useless = choice.scopes.find((scope) => !usable.has(scope));
  if (choice.scopes.length === 0) return { field: "scope", sentence: "Choose what it may do." };
  if (useless !== undefined) {
    return { field: "scope", sentence: `There is nothing here that ${useless} is for.` };
  }
  const idle = chosen.find(({ scopes }) => !scopes.some((scope) => covers(choice.scopes, scope)));
  if (idle !== undefined) {
    return { field: "scope", sentence: `With this alone it could do nothing on ${idle.id}.` };
  }
  if (offer.days.length > 0 && !offer.days.includes(choice.days)) {
    return { field: "days", sentence: "Choose for how long it works." };
  }
  return undefined;
}

/** The form, as it is first shown, or as it comes back with what is wrong with it. */
export function formOf(
  { resources, days }: Offer,
  failed?: { readonly choice: CredentialChoice; readonly error: ChoiceError },
): CredentialForm {
  const [first] = resources;
  const isChosen = (kind: "resources" | "scopes", value: string, byDefault?: string): boolean =>
    failed === undefined ? value === byDefault : failed.choice[kind].includes(value);
  const scopes = [...new Set(resources.flatMap((resource) => resource.scopes))];
  return {
    label: failed?.choice.label ?? "",
    resources: resources.map(({ id }) => ({
      ...{ value: id, label: id },
      isChecked: isChosen("resources", id, first?.id),
    })),
    scopes: scopes.map((scope) => ({
      ...{ value: scope, label: scopeLabel(scope) },
      isChecked: isChosen("scopes", scope, first?.scopes[0]),
    })),
    days,
    error: failed?.error,
  };
}

function scopeLabel(scope: string): string {
  if (scope === USE) return `Use every server (${scope})`;
  if (scope === ADMIN) return `Read what only administrators see (${scope})`;
  return `Use ${scope.slice(USE.length + 1)} (${scope})`;
}
