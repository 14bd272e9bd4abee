/**
 * Cleans untrusted text for display beside the gateway's own: removes characters that are invisible or
 * reorder the text around them. Names become one short line; prose keeps its lines. Nothing is escaped:
 * the code that writes the markup does that.
 */

import { lazy } from "./lazy.ts";

const DEFAULT_LENGTH = 80;

/** Letters and symbols that draw nothing, so that a name could seem to end or to be empty. */
const BLANK = /[\u115f\u1160\u2800\u3164\uffa0]/gu;
/** Control, format (bidi, zero width, tags), private use and half characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
/** A pile of marks on one letter grows over the lines above and below it. */
const PILED_MARKS = /(\p{M}{3})\p{M}+/gu;

/** Words of ASCII with one space between them. Most names are that, and need none of the searches below. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** @returns at most `maxLength` characters, the last one an ellipsis when there were more. */
export function cleanText(text: string, maxLength: number = DEFAULT_LENGTH): string {
  if (text.length <= maxLength && PLAIN.test(text)) return text;
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

/** Every line ending: a lone carriage return would let a terminal overwrite the line. */
const LINE_END = /\r\n|[\r\v\f\u0085\u2028\u2029]/gu;
/** Scripts whose letters take another shape beside a joiner or non-joiner (RFC 5892, A.1 and A.2). */
const JOINING = "Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr";
const EMOJI = "\\p{Extended_Pictographic}";
/** Joiners that belong to the spelling of a word or an emoji are captured, and stay. */
const unseenInProse = lazy(() => {
  const letters = Array.from(JOINING.split(" "), (script) => `\\p{sc=${script}}`).join("");
  return new RegExp(
    `((?<=[${letters}])[\\u200c\\u200d](?=[${letters}])|(?<=${EMOJI}\\ufe0f?\\p{Emoji_Modifier}?)\\u200d(?=${EMOJI}))|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]`,
    "gu",
  );
});
/** So many empty lines would push the text above them out of sight. */
const EMPTY_LINES = /\n(?:[^\S\n]*\n){3,}/gu;

/** @returns the prose with its lines, tabs and the spelling of every script. */
export function cleanProse(text: string): string {
  return text
    .replace(LINE_END, "\n")
    .replace(BLANK, " ")
    .replace(unseenInProse(), "$1")
    .replace(PILED_MARKS, "$1")
    .replace(EMPTY_LINES, "\n\n\n");
}
