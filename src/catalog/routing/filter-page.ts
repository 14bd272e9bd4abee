/** Filters and renames a page of a list from the one server of an endpoint. */

import { isAllowed, isOpen } from "../../policy/item-policy.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { LISTS, type ListKind } from "../catalog.ts";
import { policyOf } from "../cache/lookups.ts";
import { namingOf } from "../names/naming.ts";
import type { RequestScope } from "../request-scope.ts";

/** @returns the result without forbidden items, and with the operator's names. */
export function filterPage(
  { endpoint, limits }: Pick<RequestScope, "endpoint" | "limits">,
  list: ListKind,
  result: JsonObject,
): JsonObject {
  const [server] = endpoint.servers;
  const { member, name: key } = LISTS[list];
  const items: unknown = result[member];
  if (!Array.isArray(items)) return result;
  const policy = policyOf(server, list);
  const nameOf = (item: unknown): string | undefined => {
    const name = isObject(item) ? item[key] : undefined;
    return typeof name === "string" ? name : undefined;
  };
  // The policy cannot judge an item without a name.
  const allowed = items.filter((item: unknown) => {
    const name = nameOf(item);
    return name === undefined ? isOpen(policy) : isAllowed(policy, name);
  });
  if (list !== "tools" && list !== "prompts") return { ...result, [member]: allowed };
  const names = allowed.map(nameOf).filter((name) => name !== undefined);
  const naming = namingOf(endpoint, limits.nameChars);
  const publicNames = naming.publicNames(server, list, names);
  const renamed = allowed.map((item: unknown) => {
    const name = nameOf(item);
    const publicName = name === undefined ? undefined : publicNames.get(name);
    if (publicName === undefined || publicName === name || !isObject(item)) return item;
    return { ...item, name: publicName };
  });
  return { ...result, [member]: renamed };
}
