/**
 * Names that strangers gave themselves, made fit to be read beside our own words: one line, short,
 * and without characters that cannot be seen or that reorder what stands around them. It does not
 * escape: that is for whoever writes the markup.
 */

const DEFAULT_LENGTH = 80;

/** Letters and symbols that draw nothing, so that a name could seem to end or to be empty. */
const BLANK = /[\u115f\u1160\u2800\u3164\uffa0]/gu;
/** Control, format (bidi, zero width, tags), private use and half characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
/** A pile of marks on one letter grows over the lines above and below it. */
const PILED_MARKS = /(\p{M}{3})\p{M}+/gu;

/** @returns at most `maxLength` characters, the last one an ellipsis when there were more. */
export function cleanText(text: string, maxLength: number = DEFAULT_LENGTH): string {
  const clean = text
    .replace(BLANK, " ")
    // First, so that words on two lines stay two words.
    .replace(/\s+/gu, " ")
    .replace(UNSEEN, "")
    .normalize("NFC")
    .replace(PILED_MARKS, "$1")
    .replace(/ {2,}/gu, " ")
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= maxLength) return clean;
  return `${characters
    .slice(0, maxLength - 1)
    .join("")
    .trimEnd()}…`;
}
