/**
 * The form of a name that cannot be published unchanged: a readable part, and a tail that
 * identifies the server and the name. Only the tail identifies the item, so the readable part can
 * be cut at any length.
 *
 *     github__list_all_pull_requ _0 k3f9 b2a7d11f0c4e5   (without the spaces)
 *     the readable part, the mark, the server, the name
 *
 * No other name ends like this: a name that does is itself published in this form.
 */

const MARK = "_0";
const TAG_CHARS = 4;
/** 64 bits, 5 in each character. */
const HASH_CHARS = 13;
const TAIL_CHARS = MARK.length + TAG_CHARS + HASH_CHARS;
const TAIL = /^_0[0-9a-v]{17}$/;

/** Tags are below this. */
export const TAGS = 2n ** BigInt(5 * TAG_CHARS);

/** @returns the tag of the server, as `spellTag` has it; `undefined` for every other form. */
export function tagIn(name: string): string | undefined {
  const tail = name.slice(-TAIL_CHARS);
  return TAIL.test(tail) ? tail.slice(MARK.length, MARK.length + TAG_CHARS) : undefined;
}

export function spellTag(tag: bigint): string {
  return tag.toString(32).padStart(TAG_CHARS, "0");
}

/**
 * Returns letters, digits, `_` and `-`, with no digit or `-` at the beginning.
 *
 * @param readable cut and cleaned here.
 * @param maxChars more than a tail has.
 */
export function shortName(readable: string, tag: string, hash: bigint, maxChars: number): string {
  const tail = `${MARK}${tag}${hash.toString(32).padStart(HASH_CHARS, "0")}`;
  const clean = ascii(readable.slice(0, maxChars));
  const start = /^[\d-]/.test(clean) ? `_${clean}` : clean;
  return `${start.slice(0, maxChars - TAIL_CHARS).replace(/[_-]+$/, "")}${tail}`;
}

/** Converts only letters whose decomposition never changes: names outlive runtimes. */
function ascii(text: string): string {
  return text
    .replace(/[\u00c0-\u017f]/g, (letter) => letter.normalize("NFD").charAt(0))
    .replace(/[^A-Za-z0-9_-]+/g, "_");
}
