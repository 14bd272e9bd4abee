import { isObject, type JsonObject } from "../json-rpc.ts";

/** Maps each object in a list of a result. Any other member or item stays unchanged. */
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
