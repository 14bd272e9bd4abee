/**
 * What an operator pastes to add servers: an address, a client's map of servers, or entries of the official
 * registry. Each server in it becomes a candidate, or a sentence that says why it cannot be one.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { parseEditorJson } from "../../lib/editor-json.ts";
import { scanJson } from "../../lib/scan-json.ts";
import type { Candidate, Left, Pasted } from "../../observability/pasted-servers.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { entriesOf, type NamedEntry } from "../clients/client-map.ts";
import { SPELLINGS } from "../clients/spellings.ts";
import { keySchema, oauthSchema } from "../config-auth-schema.ts";
import { serverSchema } from "../config-server.ts";
import { readNamed } from "../config-servers.ts";
import { mistakesIn } from "../config-table.ts";
import { withFields } from "./pasted-fields.ts";
import { serverJsonItems } from "./server-json.ts";
import { slugOfAddress } from "./suggested-slug.ts";

const MAX_BYTES = 64 * 1024;
const MAX_ITEMS = 50;
/** A client's file has its map four levels down at most. */
const MAX_DEPTH = 32;

/** No request is sent. */
export function readPasted(text: string): Pasted {
  const pasted = text.trim();
  if (pasted === "")
    return mistake("Paste an address, a client's map of servers, or a server.json.");
  if (new TextEncoder().encode(pasted).length > MAX_BYTES) {
    return mistake(`This is more than ${MAX_BYTES / 1024} KiB; paste fewer servers at once.`);
  }
  if (/^https?:\/\/\S+$/i.test(pasted)) return read([address(pasted)]);
  if (scanJson(pasted, { depth: MAX_DEPTH }).depth > MAX_DEPTH)
    return mistake("This is nested too deeply to be a list of servers.");
  // A member of a map is often copied without the braces around it.
  const value = parseEditorJson(pasted) ?? parseEditorJson(`{${pasted}}`);
  const listed = serverJsonItems(value);
  if (listed !== undefined) return read(listed);
  if (!isObject(value)) {
    return mistake("This is neither an address that begins with https:// nor a JSON object.");
  }
  return read(isEntry(value) ? [single(value)] : entriesOf(value).map(candidateOf));
}

function mistake(sentence: string): Pasted {
  return { kind: "mistake", sentence };
}

function read(items: readonly (Candidate | Left)[]): Pasted {
  if (items.length === 0) return mistake("There is no server in this.");
  if (items.length > MAX_ITEMS) {
    return mistake(
      `There are ${items.length} servers in this; paste at most ${MAX_ITEMS} at once.`,
    );
  }
  return { kind: "read", items };
}

function address(url: string): Candidate | Left {
  const slug = slugOfAddress(url);
  const provenance = { kind: "url" } as const;
  return checked({ slug, entry: { url }, remarks: [], provenance });
}

/** One entry without the name that it has in a map. */
function single(entry: JsonObject): Candidate | Left {
  const url = Object.entries(entry).find(([key]) => isAddressKey(key))?.[1];
  const slug = slugOfAddress(String(url));
  return candidateOf({ name: slug, slug, entry, isLeftOut: false, mistake: undefined });
}

function isEntry(value: JsonObject): boolean {
  return Object.entries(value).some(
    ([key, member]) => isAddressKey(key) && typeof member === "string",
  );
}

function isAddressKey(key: string): boolean {
  return key === "url" || (Object.hasOwn(SPELLINGS, key) && SPELLINGS[key] === "url");
}

function candidateOf(named: NamedEntry): Candidate | Left {
  const read = readNamed(named, "");
  if (read.kind === "refused") return left(named.name, read.sentences);
  const { slug, entry, sentences } = read;
  const label = named.name === slug ? {} : { label: named.name };
  return checked({ slug, ...label, entry, remarks: sentences, provenance: { kind: "map" } });
}

/** An entry in which secrets and placeholders may stand as they were pasted. */
type Unchecked = Omit<Candidate, "kind" | "fields" | "secrets">;

function checked({ slug, entry, ...rest }: Unchecked): Candidate | Left {
  const name = rest.label ?? slug;
  const wrong = schemaMistakes(slug, entry);
  if (wrong.length > 0) return left(name, wrong);
  const { mistakes, ...found } = withFields(entry);
  if (mistakes.length > 0) {
    const sentences = mistakes.map((each) => `${slug}${each}.`);
    return left(name, sentences);
  }
  return { kind: "candidate", slug, ...rest, ...found };
}

function schemaMistakes(slug: string, entry: JsonObject): readonly string[] {
  const parsed = serverSchema().safeParse(entry);
  if (!parsed.success) return mistakesIn(slug, parsed.error);
  const { service, url, oauth, key } = parsed.data;
  if (service !== undefined) return [`${slug}.service: bindings are for MCP_SERVERS only.`];
  if (url === undefined) return [`${slug} needs a "url".`];
  const tables = [
    oauth === undefined ? undefined : oauthSchema().safeParse(oauth),
    key === undefined ? undefined : keySchema().safeParse(key),
  ];
  return tables.flatMap((table, n) =>
    table?.error === undefined ? [] : mistakesIn(`${slug}.${["oauth", "key"][n]}`, table.error),
  );
}

function left(name: string, sentences: readonly string[]): Left {
  return { kind: "left", name: cleanText(name), sentence: sentences.join(" ") };
}
