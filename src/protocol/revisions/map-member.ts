/** A list in a result, item by item. */

import { isObject, type JsonObject } from "../json-rpc.ts";

/** What is no list stays as it is, and so do items that are no objects. */
export function mapMember(
  result: JsonObject,
  member: string,
  map: (item: JsonObject, place: number) => JsonObject,
): JsonObject {
  const list = result[member];
  if (!Array.isArray(list)) return result;
  return {
    ...result,
    [member]: list.map((item: unknown, place) => (isObject(item) ? map(item, place) : item)),
  };
}
