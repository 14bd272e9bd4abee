/** Finds that an edit of an added server is done already: its button was pressed before. */

import type { AddedServer } from "../../observability/added-servers.ts";
import type { ServerEdit } from "../../observability/edited-servers.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import { fillIn, hasPlaceholder } from "../clients/placeholders.ts";
import { editableOf } from "./edit-server.ts";
import { namesIn } from "./pasted-fields.ts";

/**
 * Compares everything that the edit says, the values of secrets, too: an equal name is no proof, since another edit may
 * have set it.
 *
 * @param secrets the values of those that the server has now.
 */
export function isEdited(
  { label = "", entry }: Pick<AddedServer, "label" | "entry">,
  secrets: Readonly<Record<string, string>>,
  edit: ServerEdit,
): boolean {
  const { url, auth } = editableOf(entry);
  const names = namesIn(entry);
  const sent = new Map(Object.entries(isObject(entry["headers"]) ? entry["headers"] : {}));
  const has = (name: string, value: string, isSecret = false): boolean => {
    const template = sent.get(name);
    if (typeof template !== "string") return value === "";
    const isHidden = hasPlaceholder(template);
    return fillIn(template, secrets, () => undefined) === value && (isHidden || !isSecret);
  };
  const { newHeader } = edit;
  return (
    edit.label.trim() === label &&
    edit.url.trim() === url &&
    (edit.auth === undefined || edit.auth === auth) &&
    Object.entries(edit.headers).every(([name, value]) => has(name, value.trim())) &&
    Object.entries(edit.secrets).every(([name, change]) =>
      change.kind === "removed"
        ? !names.has(name)
        : names.has(name) && Object.hasOwn(secrets, name) && secrets[name] === change.value,
    ) &&
    (newHeader === undefined ||
      has(newHeader.name.trim(), newHeader.value.trim(), newHeader.isSecret))
  );
}
