/** Placeholders for secrets, as clients write them: `${NAME}`, `${env:NAME}`, `{env:NAME}`, `${NAME:-default}`, `${input:id}`. */

const PLACEHOLDER = /\$\{([^}]*)\}|\{(env:[^}]*)\}/g;
const SECRET = /^(?:env:)?(\w+)(?::-([^$]*))?$/;
const INPUT = /^input:([\w.-]+)$/;
/** What a sentence may quote: the rest could be a secret that was written in the wrong place. */
const QUOTABLE = /^(?:input:[\w.-]+$|command|config|extension|file)/;

interface Placeholder {
  /** The names that the secret may have, the one to be set first. */
  readonly names: readonly [string, ...string[]];
  /** What stands for a secret that is not set. */
  readonly usual?: string | undefined;
}

/** @returns `undefined` for what only a client can fill in, such as the output of a command. */
function read(inner: string): Placeholder | undefined {
  const [, name, usual] = SECRET.exec(inner) ?? [];
  if (name !== undefined) return { names: [name], usual };
  const [, id] = INPUT.exec(inner) ?? [];
  if (id === undefined) return undefined;
  // Ids of inputs have hyphens, which names of secrets cannot have in every shell.
  return { names: [id.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase(), id] };
}

/** @param replacement gets the placeholder, or `undefined` for what only a client can fill in, and what stands in it. */
export function replacePlaceholders(
  text: string,
  replacement: (placeholder: Placeholder | undefined, inner: string) => string,
): string {
  return text.replace(PLACEHOLDER, (_, one: string | undefined, other: string | undefined) => {
    const inner = one ?? other ?? "";
    return replacement(read(inner), inner);
  });
}

/** @returns a part of a sentence. */
export function onlyForClients(inner: string): string {
  return `${quotedPlaceholder(inner)} is something that only a client can fill in`;
}

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) !== -1;
}

/** @returns the names of the secrets that must be set for a text. */
export function secretsIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, one, other]) => read(one ?? other ?? ""))
    .filter((placeholder) => placeholder !== undefined && placeholder.usual === undefined)
    .map((placeholder) => placeholder?.names[0] ?? "");
}

/** Replaces placeholders by secrets. What is missing is said to `report`, in a part of a sentence. */
export function fillIn(
  template: string,
  env: Readonly<Record<string, unknown>>,
  report: (mistake: string) => void,
): string {
  return replacePlaceholders(template, (placeholder, inner) => {
    if (placeholder === undefined) {
      report(onlyForClients(inner));
      return "";
    }
    const { names, usual } = placeholder;
    for (const name of names) {
      const found = env[name];
      if (typeof found === "string" && found !== "") return found;
    }
    if (usual !== undefined) return usual;
    const meant = names.length > 1 ? `, for ${quotedPlaceholder(inner)},` : "";
    report(`the secret "${names[0]}"${meant} is not set`);
    return "";
  });
}

/** @returns the secrets that are not set, of all texts in a value. */
export function missingSecrets(
  value: unknown,
  env: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (typeof value === "string") {
    return Array.from(value.matchAll(PLACEHOLDER), ([, one, other]) => read(one ?? other ?? ""))
      .filter((placeholder) => placeholder !== undefined && placeholder.usual === undefined)
      .filter((placeholder) => placeholder?.names.every((name) => isEmpty(env[name])))
      .map((placeholder) => placeholder?.names[0] ?? "");
  }
  if (typeof value !== "object" || value === null) return [];
  return [...new Set(Object.values(value).flatMap((each) => missingSecrets(each, env)))];
}

function isEmpty(secret: unknown): boolean {
  return typeof secret !== "string" || secret === "";
}

function quotedPlaceholder(inner: string): string {
  const [shown = ""] = QUOTABLE.exec(inner) ?? [];
  return `"\${${shown !== "" && shown === inner ? inner : `${shown}…`}}"`;
}
