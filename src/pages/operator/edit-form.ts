/** The form that changes an added server, as it is read. */

import type { ProbeReport } from "../../observability/added-servers.ts";
import type {
  Editable,
  EditedAuth,
  SecretEdit,
  ServerEdit,
} from "../../observability/edited-servers.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import { tryJson } from "../../lib/try-json.ts";

/** Those that can be chosen where people sign in. */
export const EDITED_AUTHS: readonly EditedAuth[] = ["headers", "oauth", "oauth-shared", "key"];

/** A secret that is both replaced and removed is removed: the harmless one of two meanings. */
export function readEdit(form: URLSearchParams, { headers, secrets }: Editable): ServerEdit {
  const text = (name: string): string => form.get(name)?.trim() ?? "";
  const sent = headers.map(([name, value], n) => [name, form.get(`header-${n}`) ?? value] as const);
  const auth = EDITED_AUTHS.find((each) => each === form.get("auth"));
  const [name, value] = [text("new-name"), text("new-value")];
  return {
    ...{ label: text("label"), url: text("url"), headers: Object.fromEntries(sent) },
    secrets: Object.fromEntries(
      secrets.flatMap((secret) => {
        const change = secretEdit(form, secret.name);
        return change === undefined ? [] : [[secret.name, change] as const];
      }),
    ),
    ...(auth !== undefined && { auth }),
    ...((name !== "" || value !== "") && {
      newHeader: { name, value, isSecret: form.get("new-secret") === "on" },
    }),
  };
}

function secretEdit(form: URLSearchParams, name: string): SecretEdit | undefined {
  if (form.get(`remove-${name}`) === "on") return { kind: "removed" };
  const value = form.get(`secret-${name}`)?.trim() ?? "";
  return value === "" ? undefined : { kind: "replaced", value };
}

/** What the page that shows an edit carries to the form that keeps it, sealed. */
export interface CarriedEdit {
  readonly slug: string;
  /** Of the server that was seen. */
  readonly revision: number;
  readonly edit: ServerEdit;
  /** What was found at the server as it would be. */
  readonly probe: ProbeReport | undefined;
  /** It is served, and becomes a draft. */
  readonly isEnded: boolean;
}

export function carriedText(carried: CarriedEdit): string {
  return JSON.stringify(carried);
}

/**
 * @param text that was sealed here.
 * @param revision that the form names.
 * @returns `undefined` for what is of another server, or of another state of it.
 */
export function carriedEdit(
  text: string | undefined,
  { slug, revision }: Pick<CarriedEdit, "slug" | "revision">,
): CarriedEdit | undefined {
  const carried = text === undefined ? undefined : tryJson(text);
  if (!isObject(carried) || !isObject(carried["edit"])) return undefined;
  const isOfIt = carried["slug"] === slug && carried["revision"] === revision;
  return isOfIt ? (carried as unknown as CarriedEdit) : undefined;
}
