/**
 * What an API key or a service client is to be good for: offered, read back, and checked. What the
 * form sends is a browser's word, so nothing counts that was not offered. Each resource is offered
 * once; its scope follows from it, since with a narrower one nothing there could be used.
 */

import { cleanText } from "../lib/clean-text.ts";
import type { Resource } from "../auth/resources.ts";
import { ADMIN } from "../auth/scopes.ts";
import type { CredentialField, CredentialForm } from "./view/credential-form.ts";

export interface Offer {
  /** The default one first. */
  readonly resources: readonly Resource[];
  /** Empty for what works until it is revoked. */
  readonly days: readonly number[];
}

/** As it was sent. */
interface Draft {
  readonly label: string;
  readonly resources: readonly string[];
  /** 0 for what works until it is revoked. */
  readonly days: number;
}

interface CredentialChoice extends Draft {
  /** What the resources are acted on with; no browser says it. */
  readonly scopes: readonly string[];
}

export interface ChoiceError {
  readonly field: CredentialField;
  readonly sentence: string;
}

export type ChoiceReading =
  | { readonly kind: "choice"; readonly choice: CredentialChoice }
  | { readonly kind: "error"; readonly choice: Draft; readonly error: ChoiceError };

/** Only an administrator has something to give for the operator's pages. */
export function resourcesFor(
  all: readonly Resource[],
  { isAdmin }: { readonly isAdmin: boolean },
): readonly Resource[] {
  return all.filter(({ scopes }) => isAdmin || !scopes.includes(ADMIN));
}

export function readChoice(form: URLSearchParams, offer: Offer): ChoiceReading {
  const choice: Draft = {
    label: cleanText(form.get("label") ?? ""),
    resources: [...new Set(form.getAll("resource"))],
    days: offer.days.length === 0 ? 0 : Number(form.get("days")),
  };
  const chosen = offer.resources.filter(({ id }) => choice.resources.includes(id));
  const error = errorIn(choice, offer, chosen);
  if (error !== undefined) return { kind: "error", choice, error };
  return { kind: "choice", choice: { ...choice, scopes: [...new Set(chosen.map(scopeOf))] } };
}

/** A resource is acted on with the scope that stands for the whole of it. */
function scopeOf({ scopes: [whole = ""] }: Resource): string {
  return whole;
}

function errorIn(
  { label, resources, days }: Draft,
  offer: Offer,
  chosen: readonly Resource[],
): ChoiceError | undefined {
  if (label === "") return { field: "label", sentence: "Give it a name." };
  if (chosen.length === 0 || chosen.length < resources.length) {
    return { field: "resource", sentence: "Choose what it may act on." };
  }
  if (offer.days.length > 0 && !offer.days.includes(days)) {
    return { field: "days", sentence: "Choose for how long it works." };
  }
  return undefined;
}

/** The form, as it is first shown, or as it comes back with what is wrong with it. */
export function formOf(
  { resources, days }: Offer,
  failed?: { readonly choice: Draft; readonly error: ChoiceError },
): CredentialForm {
  const [first] = resources;
  const chosen = failed?.choice.resources ?? (first === undefined ? [] : [first.id]);
  return {
    label: failed?.choice.label ?? "",
    resources: resources.map((resource) => ({
      ...{ value: resource.id, label: resourceLabel(resource) },
      ...{ scope: scopeOf(resource), isChecked: chosen.includes(resource.id) },
    })),
    days,
    error: failed?.error,
  };
}

function resourceLabel({ slug, scopes }: Resource): string {
  if (slug !== undefined) return `The server ${slug}`;
  return scopes.includes(ADMIN) ? "What only administrators see" : "Every server";
}
