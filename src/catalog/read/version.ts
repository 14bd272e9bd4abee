/** A short digest of a content. */

import { toBase64Url } from "../../lib/base64url.ts";

/** Texts are digested in pieces of about this size, so that no second copy of all of them is made. */
const PIECE_CHARS = 256 * 1024;
const VERSION_BYTES = 12;

/** @param texts JSON: it has no raw line breaks, so these separate the texts. */
export async function versionOf(texts: Iterable<string>): Promise<string> {
  const digests: string[] = [];
  let piece: string[] = [];
  let chars = 0;
  const finishPiece = async (): Promise<void> => {
    digests.push(toBase64Url(await digest(piece.join("\n"))));
    [piece, chars] = [[], 0];
  };
  for (const text of texts) {
    piece.push(text);
    chars += text.length + 1;
    if (chars >= PIECE_CHARS) await finishPiece();
  }
  await finishPiece();
  return toBase64Url((await digest(digests.join("\n"))).subarray(0, VERSION_BYTES));
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
