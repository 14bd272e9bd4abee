/** @returns the person of a principal, which is an application of a person, or the person where there is no sign-in. */
export function personIn(principal: string): string {
  return principal.split(".", 1)[0] ?? "";
}
