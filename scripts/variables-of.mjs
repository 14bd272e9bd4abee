/** Variables among the arguments of wrangler. */

/**
 * What `--var NAME:value …` gives, which comes before all other places. One `--var` takes values up to the next option.
 *
 * @returns {Readonly<Record<string, string | undefined>>}
 */
export function variablesOf(/** @type {readonly string[]} */ given) {
  /** @type {Record<string, string>} */
  const variables = {};
  let isVariable = false;
  for (const arg of given) {
    if (arg.startsWith("-")) isVariable = /^--var(=|$)/.test(arg);
    const [, name, value] = /^(?:--var=)?(\w+):(.*)$/s.exec(arg) ?? [];
    if (isVariable && name !== undefined) variables[name] = value ?? "";
  }
  return variables;
}
