/** The `WWW-Authenticate` challenges of a server (RFC 9110 section 11.6.1), as far as they concern Bearer tokens. */

/** Of a `Bearer` challenge (RFC 6750 section 3, RFC 9728 section 5.1). Hostile text: never shown. */
export interface BearerChallenge {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
}

/** Longer values than any address or list of scopes in use; a challenge is handed on between objects. */
const MAX_VALUE_LENGTH = 4096;

/**
 * Reads the first `Bearer` challenge, whatever stands before it: a server may send several fields and
 * several schemes in each.
 *
 * @param header all fields of the response, joined with commas as `Headers.get` does.
 * @returns `undefined` when no challenge is a `Bearer` one. A parameter that occurs again is ignored.
 */
export function parseBearerChallenge(header: string | null): BearerChallenge | undefined {
  const parameters = bearerParameters(header ?? "");
  if (parameters === undefined) return undefined;
  const resourceMetadata = parameters.get("resource_metadata");
  const scope = parameters.get("scope");
  const error = parameters.get("error");
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
}

const SEPARATORS = /[ \t,]+/y;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
/** Whitespace beside it is "bad", and has to be read all the same. */
const EQUALS = /[ \t]*=[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
/** More than a token may be: some servers do not quote addresses. */
const UNQUOTED = /[^ \t,"]+/y;

/**
 * An element of the list begins with a scheme or is one more parameter, which only the `=` tells apart.
 * What fits neither, such as a `token68`, is skipped.
 */
function bearerParameters(header: string): ReadonlyMap<string, string> | undefined {
  let found: Map<string, string> | undefined;
  let index = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = index;
    const match = pattern.exec(header) ?? undefined;
    if (match !== undefined) index = pattern.lastIndex;
    return match;
  };
  for (let isFirst = true; index < header.length; isFirst = false) {
    const isElement = (take(SEPARATORS)?.[0].includes(",") ?? false) || isFirst;
    const name = take(TOKEN)?.[0].toLowerCase();
    if (name !== undefined && take(EQUALS) !== undefined) {
      const value = take(QUOTED)?.[1]?.replace(/\\(.)/gs, "$1") ?? take(UNQUOTED)?.[0] ?? "";
      if (header[index] === '"') break; // it does not end
      if (found?.has(name) === false && value.length <= MAX_VALUE_LENGTH) found.set(name, value);
    } else if (take(UNQUOTED) !== undefined || name === undefined) {
      if (header[index] === '"' && take(QUOTED) === undefined) break;
    } else if (isElement) {
      if (found !== undefined) break;
      if (name === "bearer") found = new Map();
    }
  }
  return found;
}
