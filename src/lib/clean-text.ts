/**
 * Texts that strangers wrote, made fit to be read beside our own words: without characters that
 * cannot be seen or that reorder what stands around them. Names become one short line; prose keeps its
 * lines. Nothing is escaped: that is for whoever writes the markup.
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

/** All that ends a line: a carriage return alone would let a terminal write over what stands there. */
const LINE_END = /\r\n|[\r\v\f\u0085\u2028\u2029]/gu;
/** Scripts whose letters take another shape beside a joiner or non-joiner (RFC 5892, A.1 and A.2). */
const JOINING = ["Arab", "Syrc", "Nkoo", "Mong", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml"]
  .concat(["Telu", "Knda", "Mlym", "Sinh", "Khmr"])
  .map((script) => `\\p{sc=${script}}`)
  .join("");
const EMOJI = "\\p{Extended_Pictographic}";
/** What belongs to the spelling of a word or an emoji is captured, and stays. */
const UNSEEN_IN_PROSE = new RegExp(
  `((?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])|(?<=${EMOJI}\\ufe0f?\\p{Emoji_Modifier}?)\\u200d(?=${EMOJI}))|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]`,
  "gu",
);
/** So many would move what stands above them out of sight. */
const EMPTY_LINES = /\n(?:[^\S\n]*\n){3,}/gu;

/** @returns prose that people read: lines, tabs and the spelling of every script stay. */
export function cleanProse(text: string): string {
  return text
    .replace(LINE_END, "\n")
    .replace(BLANK, " ")
    .replace(UNSEEN_IN_PROSE, "$1")
    .replace(PILED_MARKS, "$1")
    .replace(EMPTY_LINES, "\n\n\n");
}
