/** The owner's sign-in code: made once, kept from others, printed by every start. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { test as base, describe } from "vitest";

import { keepOwnerCode } from "../../scripts/owner-code.mjs";
import { Browser } from "../support/oauth-browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { freePort } from "../support/free-port.ts";
import { NODE, ROOT, startProgram } from "../support/process.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const CODE = /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){7}$/;
/** The end of what a start prints, with sign-in and without. */
const LAST_LINE = /^ {2}(Console|Sign-in {7}).*\n/m;
/** What a checkout has, as far as a start needs it. */
const CHECKOUT = [
  ...["src", "durable-objects", "examples", "scripts", "cli"],
  ...["package.json", "wrangler.toml"],
];

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("folder", async ({}, { onCleanup }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "edgeway-code-"));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
});

describe("the file of the owner's code", () => {
  test("gets a code of 160 bits, once, which only its owner can read", async ({
    expect,
    folder,
  }) => {
    const path = join(folder, ".dev.vars");
    const code = keepOwnerCode(path);
    expect(code).toMatch(CODE);
    expect(await readFile(path, "utf8")).toBe(`OWNER_CODE="${code}"\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(keepOwnerCode(path)).toBe(code);
    expect(await readdir(folder)).toEqual([".dev.vars"]);
  });

  test.for(['KEY="a b"\n# a note\n', 'KEY="a b"', "OWNER_CODE=\nKEY=1\n"])(
    "keeps its other content: %j",
    async (text, { expect, folder }) => {
      const path = join(folder, ".dev.vars");
      await writeFile(path, text);
      const code = keepOwnerCode(path);
      expect(code).toMatch(CODE);
      const kept = text.endsWith("\n") ? text : `${text}\n`;
      expect(await readFile(path, "utf8")).toBe(`${kept}OWNER_CODE="${code}"\n`);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(keepOwnerCode(path)).toBe(code);
    },
  );

  test("keeps the owner's own code, quoted or not", async ({ expect, folder }) => {
    const path = join(folder, ".dev.vars");
    for (const line of [
      "OWNER_CODE=my-own",
      'export OWNER_CODE = "my-own"',
      "OWNER_CODE='my-own'",
    ]) {
      await writeFile(path, line);
      expect(keepOwnerCode(path)).toBe("my-own");
      expect(await readFile(path, "utf8")).toBe(line);
    }
  });

  test("gets one code when several starts write it at once", async ({ expect, folder }) => {
    const script = `import { keepOwnerCode } from ${JSON.stringify(`${ROOT}scripts/owner-code.mjs`)};
      console.log(keepOwnerCode(process.argv[1]));`;
    const args = ["--input-type=module", "-e", script, join(folder, ".dev.vars")];
    const outputs = await Promise.all(Array.from({ length: 8 }, () => run(NODE, args)));
    expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(1);
    expect(await readdir(folder)).toEqual([".dev.vars"]);
  });
});

/**
 * Starts a checkout, waits for what it prints when it is ready, and stops it.
 *
 * @param act while it runs.
 */
async function outputOf(
  checkout: string,
  args: readonly string[] = [],
  act?: (origin: string, output: string) => Promise<void>,
): Promise<string> {
  const port = await freePort();
  const program = await startProgram({
    command: NODE,
    args: [
      join(checkout, "scripts/start.mjs"),
      ...["--port", String(port), "--inspector-port", "0", ...args],
    ],
    readyUrl: `http://localhost:${port}/health`,
  });
  try {
    await until(() => LAST_LINE.test(program.output()), "the gateway to say where everything is");
    await act?.(`http://localhost:${port}`, program.output());
  } finally {
    await program.stop();
  }
  return program.output();
}

const printedCode = (output: string): string | undefined =>
  /^ {2}Sign-in code {2}(\S+)$/m.exec(output)?.[1];

/** What others leave beside the sources while they run, they also take away. */
const isCheckedOut = (path: string): boolean => basename(path) !== ".wrangler";

describe("a fresh checkout", () => {
  const checkedOut = test.extend("checkout", async ({ folder }): Promise<string> => {
    for (const name of CHECKOUT) {
      await cp(join(ROOT, name), join(folder, name), { recursive: true, filter: isCheckedOut });
    }
    await symlink(`${ROOT}node_modules`, join(folder, "node_modules"));
    return folder;
  });

  checkedOut("makes a code, prints it, and prints it again", async ({ expect, checkout }) => {
    const path = join(checkout, ".dev.vars");
    const first = await outputOf(checkout);
    expect(printedCode(first)).toMatch(CODE);
    expect(await readFile(path, "utf8")).toBe(`OWNER_CODE="${printedCode(first)}"\n`);
    expect(first).toMatch(/^ {2}Console {7}http:\/\/localhost:\d+\/account$/m);
    expect(printedCode(await outputOf(checkout))).toBe(printedCode(first));
  });

  checkedOut(
    "is started by nobody whom the login doctor takes for an application",
    async ({ expect, checkout }) => {
      await outputOf(checkout, [], async (origin, output) => {
        const browser = new Browser(origin, overHttp);
        const fields = { code: printedCode(output) ?? "" };
        await browser.submit(await browser.visit("/login?to=/admin/logins"), { fields });
        let html = "";
        await until(async () => {
          ({ html } = await browser.visit("/admin/logins"));
          return html.includes("Somebody signed in to these pages.");
        }, "the sign-in to be listed");
        expect(Array.from(html.matchAll(/<li class="entry">/g)).length).toBe(1);
      });
    },
  );

  checkedOut("prints a code that is given, and keeps it nowhere", async ({ expect, checkout }) => {
    const given = "n4hz-81tq-w7cv-k30m-b5xr-y9pd-2f6j-egas";
    const output = await outputOf(checkout, ["--var", `OWNER_CODE:${given}`]);
    expect(printedCode(output)).toBe(given);
    expect(existsSync(join(checkout, ".dev.vars"))).toBe(false);
  });

  checkedOut("needs none where nobody signs in", async ({ expect, checkout }) => {
    const output = await outputOf(checkout, ["--var", "AUTH_MODE:none"]);
    expect(output).toContain('off: AUTH_MODE is "none"');
    expect(printedCode(output)).toBeUndefined();
    expect(existsSync(join(checkout, ".dev.vars"))).toBe(false);
  });
});
