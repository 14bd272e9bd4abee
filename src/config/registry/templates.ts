/** The texts of an entry in which `${NAME}` means a secret. In all others, it means nothing. */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

const OAUTH_TEMPLATES = ["clientId", "clientSecret", "privateKey"] as const;

/** @param change gets the name of the header or key, and the table that has it. `undefined` takes it away. */
export function mapTemplates(
  entry: JsonObject,
  change: (template: string, name: string, table: "headers" | "oauth") => string | undefined,
): JsonObject {
  const { headers, oauth } = entry;
  return {
    ...entry,
    ...(isObject(headers) && {
      headers: mapTexts(headers, Object.keys(headers), (text, name) =>
        change(text, name, "headers"),
      ),
    }),
    ...(isObject(oauth) && {
      oauth: mapTexts(oauth, OAUTH_TEMPLATES, (text, name) => change(text, name, "oauth")),
    }),
  };
}

function mapTexts(
  table: JsonObject,
  names: readonly string[],
  change: (text: string, name: string) => string | undefined,
): JsonObject {
  const members = Object.entries(table).map(([name, text]): [string, unknown] => {
    const isTemplate = typeof text === "string" && names.includes(name);
    return [name, isTemplate ? change(text, name) : text];
  });
  return Object.fromEntries(members.filter(([, text]) => text !== undefined));
}
