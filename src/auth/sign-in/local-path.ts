/** Where a browser goes after it has signed in: to pages of ours, and nowhere else. */

const HOME = "/account";
/** Leads back into the sign-in, or out of what was just begun. */
const CIRCULAR = /^\/(?:login|logout|callback|setup|authorize)(?:\/|$)/;

/** @param to of a query: anybody can have written it. */
export function localPath(to: string | null, origin: string): string {
  // Browsers read a backslash as a slash, and leave out tabs and line breaks.
  if (to === null || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(to)) return HOME;
  const url = URL.canParse(to, origin) ? new URL(to, origin) : undefined;
  if (url?.origin !== origin || CIRCULAR.test(url.pathname)) return HOME;
  // `/.//host` is a path of ours, and what is left when its dots are resolved is another's address.
  if (url.pathname.startsWith("//")) return HOME;
  return url.pathname + url.search;
}
