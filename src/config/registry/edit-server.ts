/**
 * Changes a server that an operator has added: its label, its address, and what is sent to it. A secret was given for
 * one origin, the protection space of a credential (RFC 9110 section 11.5): it stays with its server as long as the
 * origin does, and is asked for again at another one.
 */

import type {
  Difference,
  Editable,
  Edited,
  EditedAuth,
  ServerEdit,
} from "../../observability/edited-servers.ts";
import type { AddedServer } from "../../observability/added-servers.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { hasPlaceholder } from "../clients/placeholders.ts";
import { addressMistakes, FieldFinder, namesIn } from "./pasted-fields.ts";
import { mapTemplates } from "./templates.ts";

type Secrets = Readonly<Record<string, string>>;
type Edit = Pick<AddedServer, "slug" | "label" | "entry">;

const EDITED: ReadonlySet<string> = new Set(["url", "headers", "auth"]);
const AUTHS: readonly unknown[] = ["oauth", "oauth-shared", "key"] satisfies EditedAuth[];

export function editableOf(entry: JsonObject): Editable {
  const uses = usesIn(entry);
  const { url, auth } = entry;
  return {
    url: typeof url === "string" ? url : "",
    headers: headersOf(entry).filter(([, value]) => !hasPlaceholder(value)),
    secrets: [...namesIn(entry)].map((name) => ({
      name,
      uses: uses.filter((use) => use.names.has(name)).map(({ text }) => text),
      isLong: uses.some((use) => use.names.has(name) && use.key === "privateKey"),
    })),
    auth: authOf(auth),
    others: Object.keys(entry).filter((key) => !EDITED.has(key)),
  };
}

function authOf(auth: unknown): EditedAuth | undefined {
  if (AUTHS.includes(auth)) return auth as EditedAuth;
  return auth === "client-credentials" ? undefined : "headers";
}

function headersOf({ headers }: JsonObject): readonly (readonly [string, string])[] {
  return isObject(headers) ? (Object.entries(headers) as [string, string][]) : [];
}

interface Use {
  readonly key: string;
  /** As a page shows it. */
  readonly text: string;
  readonly names: ReadonlySet<string>;
}

function usesIn(entry: JsonObject): readonly Use[] {
  const uses: Use[] = [];
  mapTemplates(entry, (template, key, table) => {
    const names = namesIn({ headers: { [key]: template } });
    const text = table === "headers" ? `${key}: ${template}` : `${table}.${key} = ${template}`;
    uses.push({ key, text, names });
    return template;
  });
  return uses;
}

/** @param kept the values of its secrets; `undefined` where no key opens them. No request is sent. */
export function editServer(before: Edit, kept: Secrets | undefined, edit: ServerEdit): Edited {
  const { slug } = before;
  const url = edit.url.trim();
  const isMoved = originOf(url) !== originOf(before.entry["url"]);
  const found = new FieldFinder(namesIn(before.entry));
  found.mistakes.push(...addressMistakes(url).map((each) => `${slug}${each}.`));
  const entry = withoutEmpty(withHeaders({ ...withAuth(before.entry, edit), url }, edit, found));
  const secrets: Record<string, string> = {};
  for (const name of namesIn(entry)) {
    const change = own(edit.secrets, name);
    const entered = change?.kind === "replaced" ? change.value : own(found.secrets, name);
    const value = entered ?? own(kept ?? {}, name);
    if (value === undefined) found.mistakes.push(`No key that is set opens "${name}". ${AGAIN}`);
    else if (isMoved && entered === undefined) {
      found.mistakes.push(`"${name}" was given for ${originOf(before.entry["url"])}. ${AGAIN}`);
    } else secrets[name] = value;
  }
  if (found.mistakes.length > 0) return { kind: "mistakes", sentences: found.mistakes };
  const label = edit.label.trim() === "" ? undefined : edit.label.trim();
  const differences = differencesOf(before, { slug, label, entry }, kept ?? {}, secrets);
  const isSame = differences.every(({ what }) => what === LABEL);
  const reach = isMoved ? "moved" : isSame ? "same" : "changed";
  return { kind: "edited", label, entry, secrets, differences, reach };
}

/** Names are anybody's: one may be that of a method of all objects. */
function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

const AGAIN = "Enter it again, or remove it.";
const LABEL = "Label";

function originOf(url: unknown): string {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).origin : "";
}

/** Tables that belong to another way go with it. */
function withAuth(entry: JsonObject, { auth }: ServerEdit): JsonObject {
  if (auth === undefined || auth === authOf(entry["auth"])) return entry;
  const { auth: _, oauth, key, ...rest } = entry;
  const ofOAuth = auth === "oauth" || auth === "oauth-shared";
  return {
    ...rest,
    ...(auth !== "headers" && { auth }),
    ...(ofOAuth && oauth !== undefined && { oauth }),
    ...(auth === "key" && key !== undefined && { key }),
  };
}

/** What looks like a secret is made one, as in a paste. */
function withHeaders(entry: JsonObject, edit: ServerEdit, found: FieldFinder): JsonObject {
  const kept = mapTemplates(entry, (template, name, table) => {
    if (table === "headers" && !hasPlaceholder(template)) {
      const value = (own(edit.headers, name) ?? template).trim();
      if (value === "") return undefined;
      return value === template ? template : found.literal(value, name);
    }
    const names = [...namesIn({ headers: { [name]: template } })];
    return names.some((each) => own(edit.secrets, each)?.kind === "removed") ? undefined : template;
  });
  const { newHeader } = edit;
  if (newHeader === undefined) return kept;
  const { value, isSecret } = newHeader;
  const name = newHeader.name.trim();
  if (name === "" || value.trim() === "") {
    found.mistakes.push("A new header needs a name and a value.");
    return kept;
  }
  if (headersOf(kept).some(([each]) => each.toLowerCase() === name.toLowerCase())) {
    found.mistakes.push(`There is a header "${name}" already.`);
    return kept;
  }
  const headers = { ...Object.fromEntries(headersOf(kept)) };
  return { ...kept, headers: { ...headers, [name]: found.literal(value.trim(), name, isSecret) } };
}

function withoutEmpty({ headers, ...entry }: JsonObject): JsonObject {
  const isEmpty = !isObject(headers) || Object.keys(headers).length === 0;
  return isEmpty ? entry : { ...entry, headers };
}

const NOT_SENT = "not sent";
const WAYS: Readonly<Record<EditedAuth, string>> = {
  headers: "the headers here",
  oauth: "each person’s own account",
  "oauth-shared": "one account for everybody",
  key: "each person’s own key",
};

function differencesOf(
  one: Edit,
  other: { readonly slug: string; readonly label: string | undefined; readonly entry: JsonObject },
  kept: Secrets,
  secrets: Secrets,
): readonly Difference[] {
  const before = editableOf(one.entry);
  const after = editableOf(other.entry);
  const ways = [before, after].map(({ auth = "headers" }) => WAYS[auth]);
  const headers = [new Map(headersOf(one.entry)), new Map(headersOf(other.entry))] as const;
  const names = new Set(headers.flatMap((each) => [...each.keys()]));
  const rows = [
    [LABEL, one.label ?? "none", other.label ?? "none"],
    ["Address", before.url, after.url],
    ["Knows callers by", ways[0] ?? "", ways[1] ?? ""],
    ...Array.from(names, (name) => [
      `Header ${name}`,
      ...headers.map((each) => each.get(name) ?? NOT_SENT),
    ]),
    ...Array.from(namesIn(other.entry), (name) => [
      `Secret ${name}`,
      Object.hasOwn(kept, name) ? "set" : "not set",
      !Object.hasOwn(kept, name) || kept[name] === secrets[name] ? "set" : "another value",
    ]),
  ];
  return rows
    .map(([what = "", was = "", is = ""]) => ({ what, before: was, after: is }))
    .filter((each) => each.before !== each.after);
}
