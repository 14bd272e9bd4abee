/** Media types in `Content-Type` and `Accept` (RFC 9110, 8.3 and 12.5.1). */

/** The type without its parameters, in lower case; "" when there is none. */
export function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** True when an `Accept` header admits the type: by name, by `type/*`, or by a full wildcard. */
export function accepts(header: string | null, type: string): boolean {
  const family = `${type.split("/", 1)[0]}/*`;
  return (header ?? "").split(",").some((range) => {
    const [name, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (name !== type && name !== family && name !== "*/*") return false;
    return !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)); // q=0: not acceptable
  });
}
