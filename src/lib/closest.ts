/** The name that somebody probably meant. */

/** @returns the known name that resembles a mistyped one most; `undefined` when none resembles it. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  const typed = plain(name);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const each of known) {
    const meant = plain(each);
    const distance = editDistance(typed, meant);
    if (!resembles(typed, meant, distance) || distance >= (best?.distance ?? Infinity)) continue;
    best = { name: each, distance };
  }
  return best?.name;
}

/** Case, hyphens and underscores are spelling. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

const STEM = 3;

/** A third of the letters may differ, or the ending: `denied` is meant as `deny`. */
function resembles(typed: string, meant: string, distance: number): boolean {
  if (distance <= Math.floor(Math.max(typed.length, meant.length) / 3)) return true;
  const hasStem = typed.slice(0, STEM) === meant.slice(0, STEM) && meant.length > STEM;
  return hasStem && (distance <= STEM || typed.startsWith(meant));
}

/** Levenshtein's: the letters to insert, remove or replace. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
