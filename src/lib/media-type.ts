/** Media types in `Content-Type` and `Accept` (RFC 9110, 8.3 and 12.5.1). */

/** The type without its parameters, in lower case; "" when there is none. */
export function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * @returns `true` when an `Accept` header admits the type. The most specific matching range decides: a
 *   name before `type/*`, and that before a full wildcard; `q=0` means not acceptable.
 */
export function accepts(header: string | null, type: string): boolean {
  const specificity = [type, `${type.split("/", 1)[0]}/*`, "*/*"];
  let best = specificity.length;
  let isAccepted = false;
  for (const range of (header ?? "").split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const rank = specificity.indexOf(name);
    if (rank === -1 || rank > best) continue;
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    isAccepted = rank === best ? isAccepted || !isRefused : !isRefused;
    best = rank;
  }
  return isAccepted;
}
