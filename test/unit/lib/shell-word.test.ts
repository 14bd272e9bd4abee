/** A word for a shell is read back as the text that it was made from. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { shellWord } from "../../../src/lib/shell-word.ts";

/** Characters that mean something to a shell, and one that does not. */
const MEANT = ["'", '"', "\\", " ", "$", "`", "!", "*", "\n", "&", ";", "a"];

/** The words of a line, as POSIX reads quotes (Shell Command Language, section 2.2). */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|\\[^]|[^\s'\\])+/g)) {
    words.push(word.replaceAll(/'([^']*)'|\\([^])/g, (_, quoted, escaped) => quoted ?? escaped));
  }
  return words;
}

describe("a word for a shell", () => {
  test("is the text itself where no shell means anything by it", ({ expect }) => {
    expect(shellWord("https://mcp.example.com/mcp/docs")).toBe("https://mcp.example.com/mcp/docs");
    expect(shellWord("http://localhost:8787/mcp")).toBe("http://localhost:8787/mcp");
  });

  test("is quoted where one does", ({ expect }) => {
    expect(shellWord("https://mcp.example.com/mcp?a=1&b=it's#f")).toBe(
      `'https://mcp.example.com/mcp?a=1&b=it'\\''s#f'`,
    );
    expect(shellWord("")).toBe("''");
    expect(shellWord("~")).toBe("'~'");
    expect(shellWord("[::1]")).toBe("'[::1]'");
  });

  test("is one word, with every character", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: fc.constantFrom(...MEANT) }), (a, b) => {
        expect(wordsOf(`x ${shellWord(a)} ${shellWord(b)} y`)).toEqual(["x", a, b, "y"]);
      }),
    );
  });
});
