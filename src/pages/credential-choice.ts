/**
 * The choices of the form for an API key or a service client: offered, read back, and checked. The
 * form's data comes from a browser, so only offered values count. Each resource is offered once;
 * its scope follows from it, because a narrower one could use nothing there.
 */

import { cleanText } from "../lib/clean-text.ts";
import type { Resource } from "../auth/resources.ts";
import { ADMIN } from "../auth/scopes.ts";
import type { CredentialField, CredentialForm } from "./view/credentials-view.ts";

export interface Offer {
  /** The resources on offer, the default one first. */
  readonly resources: readonly Resource[];
  /** The lifetimes in days; empty for a credential that works until it is revoked. */
  readonly days: readonly number[];
}

/** The form as it was sent. */
interface Draft {
  readonly label: string;
  readonly resources: readonly string[];
  /** 0 for a credential that works until it is revoked. */
  readonly days: number;
}

interface CredentialChoice extends Draft {
  /** The scopes for the resources; the browser does not send them. */
  readonly scopes: readonly string[];
}

export interface ChoiceError {
  readonly field: CredentialField;
  readonly sentence: string;
}

export type ChoiceReading =
  | { readonly kind: "choice"; readonly choice: CredentialChoice }
  | { readonly kind: "error"; readonly choice: Draft; readonly error: ChoiceError };

/** Only an administrator can grant access to the operator's pages. */
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

/** @returns the scope that covers the whole resource. */
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

/** @returns the form as it is first shown, or with the error of the last try. */
export function formOf(
  { resources, days }: Offer,
  failed?: { readonly choice: Draft; readonly error: ChoiceError },
): CredentialForm {
  const [first] = resources;
  const chosen = failed?.choice.resources ?? (first === undefined ? [] : [first.id]);
  return {
    label: failed?.choice.label ?? "",
    resources: resources.map((resource) => ({
      value: resource.id,
      label: resourceLabel(resource),
      scope: scopeOf(resource),
      isChecked: chosen.includes(resource.id),
    })),
    days,
    error: failed?.error,
  };
}

function resourceLabel({ slug, scopes }: Resource): string {
  if (slug !== undefined) return `The server ${slug}`;
  return scopes.includes(ADMIN) ? "What only administrators see" : "Every server";
}
