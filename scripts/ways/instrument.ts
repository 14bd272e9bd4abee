/** A bundle that counts how often each function of the source runs. Pure. */

import { type ForStatement, type Node, parseSync, visitorKeys } from "oxc-parser";

/** A function of the source. */
export interface SourceFunction {
  /** From the root of the checkout. */
  readonly path: string;
  /** Empty for one without a name. */
  readonly name: string;
}

/** Where the bundle answers with how often each function ran; it then counts from zero again. */
export const COUNTS_PATH = "/__counts";

/** esbuild writes the path of each module above it, and evaluates a lazy one in a function of that name. */
const MODULE_COMMENT = /^\/\/ (\S+\.[cm]?[jt]sx?)$/gm;
const OURS = /^(?:src|durable-objects)\//;
const LOOP = /^(?:For|While|DoWhile)/;
const DEFAULT_EXPORT = /\b(\w+) as default\b/;

/**
 * A function is counted when it begins and whenever a loop in it turns: a loop that reads a stream may
 * have begun long before.
 *
 * @param bundle esbuild's, not minified.
 * @returns its code, and its functions in the order of their counts.
 */
export function instrument(bundle: string): { code: string; functions: readonly SourceFunction[] } {
  const modules = [...bundle.matchAll(MODULE_COMMENT)].map(({ index, 1: path = "" }) => ({
    index,
    path,
  }));
  const functions: SourceFunction[] = [];
  const insertions: { at: number; text: string }[] = [];

  /** @param name of the nearest function around; @param current its index. */
  function visit(node: Node, name: string, current: number | undefined): void {
    let inside = current;
    const isFunction =
      node.type === "FunctionDeclaration" ||
      node.type === "FunctionExpression" ||
      node.type === "ArrowFunctionExpression";
    if (isFunction) {
      const path = modules.findLast(({ index }) => index <= node.start)?.path ?? "";
      const known = ("id" in node ? node.id?.name : undefined) ?? name;
      inside =
        OURS.test(path) && known !== path ? functions.push({ path, name: known }) - 1 : undefined;
      if (node.body !== null) count(node.body, inside, ["(", ", ", ")"]);
    } else if (LOOP.test(node.type)) {
      count((node as ForStatement).body, current, ["{", "; ", "}"]);
    }
    const below = nameGivenBy(node);
    for (const key of visitorKeys[node.type] ?? []) {
      const child = node[key as keyof Node] as unknown as Node | readonly Node[] | null | undefined;
      for (const one of [child ?? []].flat() as readonly (Node | null)[]) {
        if (one !== null) visit(one, below, inside);
      }
    }
  }

  /** @param wrap around the count and a body without braces. */
  function count(
    body: Node,
    index: number | undefined,
    wrap: readonly [string, string, string],
  ): void {
    if (index === undefined) return;
    const counting = `__counts[${index}]++`;
    if (body.type === "BlockStatement") {
      insertions.push({ at: body.start + 1, text: `${counting};` });
    } else {
      const [open, between, close] = wrap;
      insertions.push({ at: body.start, text: open + counting + between });
      insertions.push({ at: body.end, text: close });
    }
  }

  visit(parseSync("index.js", bundle).program, "", undefined);
  let code = "";
  let copied = 0;
  for (const { at, text } of insertions.toSorted((a, b) => a.at - b.at)) {
    code += bundle.slice(copied, at) + text;
    copied = at;
  }
  return { code: withCounts(code + bundle.slice(copied), functions.length), functions };
}

/** @returns the name of a function that is the value of this. */
function nameGivenBy(node: Node): string {
  if (node.type === "VariableDeclarator") return node.id.type === "Identifier" ? node.id.name : "";
  if (!("key" in node)) return "";
  const { key } = node;
  if (key.type === "Identifier" || key.type === "PrivateIdentifier") return key.name;
  return key.type === "Literal" ? String(key.value) : "";
}

/** Adds the counts, and the route that answers with them. */
function withCounts(code: string, length: number): string {
  const wrapped = code.replace(DEFAULT_EXPORT, "counted_default as default");
  return `var __counts = new Uint32Array(${length});
${wrapped}
var counted_default = {
  fetch(request, env, context) {
    if (new URL(request.url).pathname !== ${JSON.stringify(COUNTS_PATH)}) {
      return ${DEFAULT_EXPORT.exec(code)?.[1]}.fetch(request, env, context);
    }
    const counts = [...__counts];
    __counts.fill(0);
    return Response.json(counts);
  },
};
`;
}
