/**
 * A pattern of names: `*` stands for any characters, also none, and `?` for one. Everything else
 * stands for itself, case and all. A character is a code point; nothing is normalised.
 */

export class Glob {
  readonly pattern: string;
  /** It stands for one name only. */
  readonly isLiteral: boolean;
  /** It stands for every name. */
  readonly isEverything: boolean;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.isLiteral = !/[*?]/.test(pattern);
    this.isEverything = /^\*+$/.test(pattern);
  }

  /**
   * Takes time in proportion to the length of the name, times that of the pattern at the worst:
   * only the last `*` is ever taken up again, since an earlier one could not do better.
   */
  matches(name: string): boolean {
    const { pattern } = this;
    if (this.isLiteral) return name === pattern;
    if (this.isEverything) return true;
    let at = 0;
    let place = 0;
    let lastStar: { readonly after: number; from: number } | undefined;
    while (at < name.length) {
      const char = name.codePointAt(at);
      const wanted = pattern.codePointAt(place);
      if (wanted === STAR) {
        place += 1;
        lastStar = { after: place, from: at };
      } else if (wanted !== undefined && (wanted === ANY || wanted === char)) {
        at += unitsOf(char);
        place += unitsOf(wanted);
      } else if (lastStar !== undefined) {
        // One character more for the star, and from there again.
        lastStar.from += unitsOf(name.codePointAt(lastStar.from));
        at = lastStar.from;
        place = lastStar.after;
      } else {
        return false;
      }
    }
    while (pattern.codePointAt(place) === STAR) place += 1;
    return place === pattern.length;
  }
}

const STAR = 0x2a;
const ANY = 0x3f;

function unitsOf(char: number | undefined): number {
  return char !== undefined && char > 0xffff ? 2 : 1;
}
