/** The README is short, tables that are made from the code are up to date, and links and names lead somewhere. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { outdatedDocuments } from "../../scripts/docs.mjs";
import { ROOT } from "../support/process.ts";

const README_BYTES = 8 * 1024;

const DOCUMENTS = readdirSync(ROOT, { encoding: "utf8" })
  .concat(readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map(inDocs))
  .filter((path) => path.endsWith(".md"));

function inDocs(path: string): string {
  return join("docs", path);
}

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** @returns the anchors that GitHub makes of the headings. */
function anchorsIn(path: string): ReadonlySet<string> {
  const headings = [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("among the documents,", () => {
  test("the README is short", ({ expect }) => {
    expect(statSync(join(ROOT, "README.md")).size).toBeLessThanOrEqual(README_BYTES);
  });

  test("the tables that are generated from the code are up to date (npm run docs)", ({
    expect,
  }) => {
    expect(outdatedDocuments()).toEqual([]);
  });

  test.for(DOCUMENTS)("every link in %s leads somewhere", (path, { expect }) => {
    const prose = textOf(path).replaceAll(/^```.*?^```/gms, "");
    const links = [...prose.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link = ""]) => link);
    const dead = links.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsIn(target).has(anchor);
    });
    expect(dead).toEqual([]);
  });

  test.for(DOCUMENTS)("every npm script that %s names exists", (path, { expect }) => {
    const named = [...textOf(path).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
  });

  test.for(DOCUMENTS)("every file that %s names exists", (path, { expect }) => {
    const named = [
      ...textOf(path).matchAll(
        /(?<![\w/.-])((?:src|durable-objects|test|scripts|bench|examples|docs)\/[\w./-]+\.(?:ts|mjs|md|toml))/g,
      ),
    ];
    const absent = named
      .map(([, file = ""]) => file)
      .filter((file) => !existsSync(join(ROOT, file)));
    expect(absent).toEqual([]);
  });
});
