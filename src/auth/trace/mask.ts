/**
 * What strangers send, as it may be kept: people put tokens into the wrong field, and an operator
 * may read what the login doctor keeps, but no one's secret.
 */

import { isDocumentUrl } from "../clients/client-id-url.ts";

/** As tokens are: letters, digits and the signs of base64url, and too many of them for a word. */
const RUN = /[A-Za-z0-9_~+=-]{16,}/gu;
/** The beginnings that issuers give to their secrets, whatever follows. */
const MARKED =
  /(?<![A-Za-z0-9])(?:sk|pk|rk|whsec|gh[opsur]|github_pat|glpat|xox[a-z]|AKIA|eyJ)[_-]?[A-Za-z0-9_.-]{6,}/gu;
/** Base64 has slashes and escapes too; no path of a client mixes so many letters of both cases and digits. */
const MIXED = /(?=[^\s]*[A-Z])(?=[^\s]*[a-z])(?=[^\s]*\d)[A-Za-z0-9/+=_-]{36,}/gu;
const ESCAPED = /(?:%[0-9A-Fa-f]{2}){4,}/gu;
/** From here on one digit is enough, and from there on none is needed. */
const LONG = 20;
const TOO_LONG = 40;
const MASK = "…";

/**
 * Of free text, without whatever could be a token: a run of characters with digits in it, as words
 * and names of programs seldom have them, or that is longer than those are.
 */
export function maskTokens(text: string): string {
  const unmarked = text.replace(MARKED, MASK).replace(ESCAPED, MASK).replace(MIXED, MASK);
  return unmarked.replace(RUN, (run) => {
    const digits = run.replace(/[^0-9]/g, "").length;
    const isLikely = digits > 1 || (digits === 1 && run.length >= LONG);
    return isLikely || run.length >= TOO_LONG ? MASK : run;
  });
}

/** @returns what may be kept of a client id that nobody was found by: its host, or its length. */
export function claimedId(clientId: string): { readonly claimed?: string } {
  if (clientId === "") return {};
  if (isDocumentUrl(clientId) && URL.canParse(clientId)) {
    return { claimed: `${maskTokens(new URL(clientId).origin)}/${MASK}` };
  }
  return { claimed: `${clientId.length} characters` };
}
