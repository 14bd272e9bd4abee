/**
 * Makes fields of what a pasted entry leaves to fill in, and takes out the secrets that stand in it as they are:
 * they must be neither lost nor shown.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { hasPlaceholder, onlyForClients, replacePlaceholders } from "../clients/placeholders.ts";
import type { Candidate, Field } from "../../observability/pasted-servers.ts";
import { mapTemplates } from "./templates.ts";

const SECRET_NAME =
  /auth|cookie|credential|key|passw|pwd|secret|session|signature|token|\bpat\b|\bsid\b/i;
/** A scheme of HTTP, or so many characters that no person would have chosen them. */
const SECRET_VALUE = /^(?:basic|bearer|token) |[\w+/=~-]{24}/i;
const SCHEME = /^(basic|bearer|token) +(\S.*)$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** True of a header or key that is taken for a secret by its looks. */
export function isSecret(name: string, value: string): boolean {
  return isSecretName(name) || SECRET_VALUE.test(value) || hasPlaceholder(value);
}

interface Found extends Pick<Candidate, "entry" | "fields" | "secrets"> {
  /** Each goes on from the slug, to the end of a sentence. */
  readonly mistakes: readonly string[];
}

/** @param entry of the shape that the schema asks for. */
export function withFields(entry: JsonObject): Found {
  const found = new FieldFinder(namesIn(entry));
  const { url } = entry;
  const withAddress = typeof url === "string" ? { ...entry, url: found.address(url) } : entry;
  const filled = mapTemplates(withAddress, (text, name, table) =>
    found.text(text, name, `.${table}`),
  );
  const { fields, secrets, mistakes } = found;
  return { entry: filled, fields: [...fields.values()], secrets, mistakes };
}

/** @returns the names of all placeholders: none of them may become that of something else. */
export function namesIn(entry: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  mapTemplates(entry, (text) =>
    replacePlaceholders(text, (placeholder) => {
      for (const name of placeholder?.names ?? []) names.add(name);
      return "";
    }),
  );
  return names;
}

export class FieldFinder {
  readonly #reserved: ReadonlySet<string>;
  readonly fields = new Map<string, Field>();
  readonly secrets: Record<string, string> = {};
  readonly mistakes: string[] = [];

  constructor(reserved: ReadonlySet<string> = new Set()) {
    this.#reserved = reserved;
  }

  /** An address is stored and shown as it is, so it can have no secret in it. */
  address(url: string): string {
    const template = replacePlaceholders(url, (placeholder, inner) => {
      if (placeholder === undefined) this.mistakes.push(`.url: ${onlyForClients(inner)}`);
      const [name] = placeholder?.names ?? [inner];
      if (isSecretName(name)) this.mistakes.push(SECRET_IN_URL);
      const initial = placeholder?.usual ?? "";
      this.fields.set(name, {
        ...{ name, label: name, isSecret: false, isRequired: true },
        ...(initial !== "" && { initial }),
        description: "A part of the address.",
      });
      return `\${${name}}`;
    });
    this.mistakes.push(...addressMistakes(template));
    return template;
  }

  /** @param name of the header or key, in the table that `place` names in sentences. */
  text(text: string, name: string, place: string): string {
    return hasPlaceholder(text)
      ? this.#template(text, `${place}.${name}`)
      : this.literal(text, name);
  }

  #template(text: string, place: string): string {
    if (SECRET_VALUE.test(replacePlaceholders(text, () => "").replace(SCHEME_ALONE, ""))) {
      this.mistakes.push(
        `${place} has a secret beside a placeholder; write the whole value as one`,
      );
    }
    return replacePlaceholders(text, (placeholder, inner) => {
      if (placeholder === undefined) {
        this.mistakes.push(`${place}: ${onlyForClients(inner)}`);
        return "";
      }
      const { names, usual } = placeholder;
      const [name] = names;
      if (usual !== undefined && usual !== "") this.secrets[name] ??= usual;
      if (!this.fields.has(name)) {
        const isRequired = usual === undefined;
        this.fields.set(name, { name, label: name, isSecret: true, isRequired });
      }
      return `\${${name}}`;
    });
  }

  /** @returns the text itself, or a placeholder where it is a secret. */
  literal(text: string, label: string, isSaid = false): string {
    if (text === "" || !(isSaid || isSecret(label, text))) return text;
    const [, scheme, rest] = SCHEME.exec(text) ?? [];
    const description = scheme === undefined ? {} : { description: `What follows "${scheme}".` };
    const asked = { isSecret: true, isRequired: false, initial: rest ?? text, ...description };
    const placeholder = this.ask(label, asked);
    return scheme === undefined ? placeholder : `${scheme} ${placeholder}`;
  }

  /** @returns the placeholder. The initial value of a secret is kept as one. */
  ask(label: string, { initial, ...field }: Omit<Field, "name" | "label">): string {
    const name = freeName(label, (each) => this.fields.has(each) || this.#reserved.has(each));
    const isKept = field.isSecret && initial !== undefined;
    if (isKept) this.secrets[name] = initial;
    this.fields.set(name, {
      ...{ name, label, ...field, isRequired: field.isRequired && !isKept },
      ...(initial !== undefined && !isKept && { initial }),
    });
    return `\${${name}}`;
  }
}

/** @returns a name for `${NAME}` that no other field has. */
function freeName(label: string, isTaken: (name: string) => boolean): string {
  const plain = label.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase();
  const name = /[A-Z0-9]/.test(plain) ? plain : "VALUE";
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}_${n}`;
  return free;
}

/** What stands before the placeholder of a token. */
const SCHEME_ALONE = /^(?:basic|bearer|token) +$/i;

export const SECRET_IN_URL =
  ".url has a secret in it, which pages and logs would show; send it in a header, or configure this server in MCP_SERVERS";

export function addressMistakes(template: string): readonly string[] {
  // Any word makes an address of a template.
  const filled = replacePlaceholders(template, () => "x");
  const isOpen = filled !== template;
  if (!URL.canParse(filled)) {
    return isOpen && template.startsWith("${")
      ? []
      : [".url must be an absolute http or https URL"];
  }
  const url = new URL(filled);
  if (!/^https?:$/.test(url.protocol)) return [".url must be an absolute http or https URL"];
  if (url.username + url.password !== "") return [SECRET_IN_URL];
  const isSecret = [...url.searchParams].some(
    ([name, value]) => value !== "" && (isSecretName(name) || SECRET_VALUE.test(value)),
  );
  return isSecret ? [SECRET_IN_URL] : [];
}
