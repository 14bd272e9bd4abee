/** Text as one word of a POSIX shell. */

/** Means itself in every shell, and in those of Windows, which know no single quotes. */
const PLAIN = /^[\w@+=:,./-]+$/;

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
