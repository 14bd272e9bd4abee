/**
 * A pattern for names: `*` matches any characters or none, and `?` matches one. Every other character
 * matches itself, case-sensitively. A character is a code point; names are not normalised.
 */

export class Glob {
  readonly pattern: string;
  /** `true` when it matches one name only. */
  readonly isLiteral: boolean;
  /** `true` when it matches every name. */
  readonly isEverything: boolean;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.isLiteral = !/[*?]/.test(pattern);
    this.isEverything = /^\*+$/.test(pattern);
  }

  /**
   * Takes at most time proportional to the length of the name times that of the pattern: it backtracks
   * only to the last `*`, since an earlier one could not match more.
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
        // The star takes one more character, and matching continues from there.
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
