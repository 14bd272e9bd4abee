/** The API key of the environment. */

type Environment = Readonly<Record<string, string | undefined>>;

/** What a header may have in one word. Whatever refuses another character says it with the whole of the key. */
const WORD = /^[\x21-\x7e]+$/;

/** @returns `undefined` where there is none. */
export function keyOf({ EDGEWAY_KEY = "" }: Environment): string | undefined {
  const key = EDGEWAY_KEY.trim();
  return key === "" ? undefined : key;
}

/** @returns what is wrong with the key, which is not shown. */
export function mistakeInKey(environment: Environment): string | undefined {
  if (WORD.test(keyOf(environment) ?? "none")) return undefined;
  return "EDGEWAY_KEY has a character that no key has, as a space or a line break. Set it to the key alone";
}
