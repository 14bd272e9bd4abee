/**
 * The form of a name that cannot be given out as it is: what of it can be read, and a tail that says
 * which server it is of and which of its names. Whose it is stands in the tail alone, so that the
 * rest can be cut wherever there is no more room.
 *
 *     github__list_all_pull_requ _0 k3f9 b2a7d11f0c4e5   (without the spaces)
 *     what can be read, the mark, the server, the name
 *
 * Nothing else ends like this: a name that does is given out in this form itself.
 */

const MARK = "_0";
const TAG_CHARS = 4;
/** 64 bits, 5 in each. */
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
 * Letters, digits, `_` and `-`, and no digit or `-` at the beginning.
 *
 * @param readable cut and cleaned here.
 * @param maxChars more than a tail has.
 */
export function shortName(readable: string, tag: string, hash: bigint, maxChars: number): string {
  const tail = `${MARK}${tag}${hash.toString(32).padStart(HASH_CHARS, "0")}`;
  const clean = ascii(readable.slice(0, maxChars));
  const head = /^[\d-]/.test(clean) ? `_${clean}` : clean;
  return `${head.slice(0, maxChars - TAIL_CHARS).replace(/[_-]+$/, "")}${tail}`;
}

/** Only letters whose marks will never be taken apart in another way: names outlive runtimes. */
function ascii(text: string): string {
  return text
    .replace(/[\u00c0-\u017f]/g, (letter) => letter.normalize("NFD").charAt(0))
    .replace(/[^A-Za-z0-9_-]+/g, "_");
}
