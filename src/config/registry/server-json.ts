/**
 * Entries of the official registry (`server.json`, schema 2025-12-11): each remote of a server becomes a candidate.
 * One alone, as the registry's API wraps it, or a list of them.
 */

import * as z from "zod/mini";

import { cleanProse, cleanText } from "../../lib/clean-text.ts";
import { lazy } from "../../lib/lazy.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { isHeader } from "../config-fields.ts";
import { mistakesIn, oneOf } from "../config-table.ts";
import type { Candidate, Left } from "../../observability/pasted-servers.ts";
import { addressMistakes, FieldFinder, isSecretName, SECRET_IN_URL } from "./pasted-fields.ts";
import { freeSlug, slugOfName } from "./suggested-slug.ts";

const SCHEMA = /\/server\.schema\.json$/;
const OFFICIAL = "io.modelcontextprotocol.registry/official";
/** `$` is no part of a variable, but many publishers write it. */
const VARIABLE = /\$?\{([^{}]+)\}/g;
const MAX_TEXTS = 100;
const MAX_DESCRIPTION = 300;

const remoteSchema = lazy(() => {
  const text = z.string({ error: "must be a string" });
  const flag = z.optional(z.boolean({ error: "must be true or false" }));
  const input = {
    ...{ description: z.optional(text), isRequired: flag, isSecret: flag },
    ...{ default: z.optional(text), value: z.optional(text) },
    choices: z.optional(z.array(text, { error: "must be a list" }).check(z.maxLength(MAX_TEXTS))),
  };
  const table = { error: "must be a table" };
  const variables = z.optional(z.record(z.string(), z.object(input, table), table));
  const header = z.object({ name: text, variables, ...input }, table);
  return z.object(
    {
      type: oneOf(["streamable-http", "sse"]),
      url: text,
      variables,
      headers: z.optional(
        z.array(header, { error: "must be a list" }).check(z.maxLength(MAX_TEXTS)),
      ),
    },
    table,
  );
});

type Remote = z.infer<ReturnType<typeof remoteSchema>>;
type Header = NonNullable<Remote["headers"]>[number];
type Input = NonNullable<Remote["variables"]>[string];

/** @returns `undefined` for what is something else. */
export function serverJsonItems(value: unknown): readonly (Candidate | Left)[] | undefined {
  const documents = documentsIn(value);
  const taken = new Set<string>();
  return documents?.flatMap((document, n) => [...readDocument(document, `Entry ${n + 1}`, taken)]);
}

function documentsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value.some(isDocument) ? value : undefined;
  if (isObject(value) && Array.isArray(value["servers"])) return value["servers"];
  return isDocument(value) ? [value] : undefined;
}

function isDocument(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { $schema, remotes, packages } = unwrapped(value);
  const isNamed = typeof $schema === "string" && SCHEMA.test($schema);
  return isNamed || Array.isArray(remotes) || Array.isArray(packages);
}

function unwrapped(value: JsonObject): JsonObject {
  return isObject(value["server"]) ? value["server"] : value;
}

function* readDocument(
  document: unknown,
  place: string,
  taken: Set<string>,
): Generator<Candidate | Left> {
  const server = isObject(document) ? unwrapped(document) : {};
  const { name, version, remotes = [], packages = [] } = server;
  if (!isObject(document) || typeof name !== "string" || name === "") {
    return yield left(place, `${place} has no name, so it is no server.json.`);
  }
  const shown = cleanText(name);
  const status = statusOf(document, server);
  if (status === "deprecated" || status === "deleted") {
    return yield left(shown, `${shown} is ${status} in the registry.`);
  }
  if (!Array.isArray(remotes) || !Array.isArray(packages)) {
    return yield left(shown, `${shown}: "remotes" and "packages" must be lists.`);
  }
  if (remotes.length === 0) return yield left(shown, withoutRemote(shown, packages.length > 0));
  const provenance = {
    ...{ kind: "server.json" as const, name: shown },
    ...(typeof version === "string" && { version: cleanText(version) }),
  };
  const { title } = server;
  const label = cleanText(typeof title === "string" && title !== "" ? title : name, 60);
  for (const [n, remote] of remotes.entries()) {
    const read = readRemote(`${shown}: remotes.${n}`, remote);
    if (typeof read === "string") yield left(shown, read);
    else {
      const slug = freeSlug(slugOfName(name), taken);
      yield { kind: "candidate", slug, label, ...read, remarks: [], provenance };
    }
  }
}

/** The registry itself keeps it beside the document, and earlier documents have it inside. */
function statusOf(document: JsonObject, server: JsonObject): unknown {
  for (const { _meta: meta } of [document, server]) {
    const official = isObject(meta) ? meta[OFFICIAL] : undefined;
    if (isObject(official) && official["status"] !== undefined) return official["status"];
  }
  return server["status"];
}

function withoutRemote(name: string, hasPackages: boolean): string {
  return hasPackages
    ? `${name} is a program, which needs a machine: publish it from one with "edgeway publish", as docs/stdio.md says.`
    : `${name} has no address.`;
}

function left(name: string, sentence: string): Left {
  return { kind: "left", name, sentence };
}

/** @returns why it cannot be a candidate, as a sentence. */
function readRemote(
  place: string,
  given: unknown,
): Pick<Candidate, "entry" | "fields" | "secrets"> | string {
  const parsed = remoteSchema().safeParse(given);
  if (!parsed.success) return mistakesIn(place, parsed.error).join(" ");
  const { type, headers = [] } = parsed.data;
  const found = new FieldFinder();
  const url = addressOf(parsed.data, found);
  const invalid = headers.find(({ name }) => !isHeader(name, "x"));
  if (invalid !== undefined) found.mistakes.push(".headers has a name that is not valid");
  const entries = headers.map((header) => [header.name, valueOf(header, found)] as const);
  const sent = entries.filter(([, value]) => value !== "");
  if (found.mistakes.length > 0) return found.mistakes.map((each) => `${place}${each}.`).join(" ");
  return {
    entry: { url, type, ...(sent.length > 0 && { headers: Object.fromEntries(sent) }) },
    fields: [...found.fields.values()],
    secrets: found.secrets,
  };
}

function addressOf({ url, variables = {} }: Remote, found: FieldFinder): string {
  const template = url.replaceAll(VARIABLE, (_, name: string, offset: number) => {
    const input = (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? {};
    if (input.value !== undefined) return input.value;
    if (input.isSecret ?? isSecretName(name)) found.mistakes.push(SECRET_IN_URL);
    // A path with a hole in it is none; a query may have one.
    const isRequired = input.isRequired === true || !url.slice(0, offset).includes("?");
    return ask(name, { ...input, isRequired, isSecret: false }, found);
  });
  found.mistakes.push(...addressMistakes(template));
  return template;
}

/** A header without a value is one input; in a value, each variable is one. */
function valueOf({ name, variables = {}, ...input }: Header, found: FieldFinder): string {
  const isSecret = input.isSecret === true || isSecretName(name);
  if (input.value === undefined) return ask(name, { ...input, isSecret }, found);
  const names = Array.from(input.value.matchAll(VARIABLE), ([, variable = ""]) => variable);
  if (!names.some((variable) => Object.hasOwn(variables, variable))) {
    return found.text(input.value, name, ".headers");
  }
  return input.value.replaceAll(VARIABLE, (whole, variable: string) => {
    const asked = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (asked === undefined) return whole;
    return asked.value ?? ask(variable, { ...asked, isSecret: asked.isSecret ?? isSecret }, found);
  });
}

function ask(label: string, input: Input, found: FieldFinder): string {
  const { description, isRequired = false, isSecret = false, default: initial, choices } = input;
  return found.ask(cleanText(label, 60), {
    ...{ isSecret, isRequired },
    ...(initial !== undefined && initial !== "" && { initial }),
    ...(choices !== undefined && choices.length > 0 && { choices }),
    ...(description !== undefined && {
      description: cleanText(cleanProse(description), MAX_DESCRIPTION),
    }),
  });
}
