/**
 * What a module remembers, as source: a program is evaluated once for all isolates, so that what lasts in a
 * module must be looked up in the isolate whose code runs (`remembered` of `globals.ts`).
 */

const VARIABLE = /^let (\w+)(?:: [^=\n]+?)?(?: = ([^;\n]+))?;$/gm;
const KEPT =
  /^((?:export )?const (?!\w+: Readonly)(\w+)[^=;]* =\s*)(new (\w+)(?:<[^;]*?>)?\(([^;]*)\));$/gm;
/** Something kept in a table, where `KEPT` does not find it: all isolates would share it. */
const TABLE = /^(?:export )?const \w+ = \{[^;]*\bnew [A-Z].*/m;
/** What is never changed after it was made. */
const CONSTANT = /^(?:TextEncoder|TextDecoder|RegExp|URLPattern)$/;

/** @throws Error for a variable that is written in another way. */
export function withMemory(source: string, file: string): string {
  const variables: string[] = [];
  let text = source.replace(VARIABLE, (_, name: string, value = "undefined") => {
    variables.push(name);
    return `const ${name} = remembered(() => ({ value: ${value} }));`;
  });
  const other = /^(?:export )?(?:let|var) .*/m.exec(text) ?? TABLE.exec(text);
  if (other !== null) throw new Error(`${file} has a variable that is not understood: ${other[0]}`);
  for (const name of variables) {
    const uses = new RegExp(String.raw`(?<!const |[\w$./-])${name}(?![\w$:-])`, "g");
    text = text.replace(uses, `${name}.value`);
  }
  return text.replace(
    KEPT,
    (all, start: string, _name: string, made: string, kind: string, given: string) => {
      const isTable = /^(?:Map|Set)$/.test(kind) && given.trim() !== "";
      return isTable || CONSTANT.test(kind) ? all : `${start}remembered(() => ${made});`;
    },
  );
}
