/** How a local server is started: its file, its arguments, its environment. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { childEnvironment } from "../../../../cli/publish/child-environment.ts";
import { findProgram } from "../../../../cli/publish/find-program.ts";
import { localServer } from "../../../../cli/publish/local-server.ts";
import { batchArguments } from "../../../../cli/publish/windows-command.ts";

const NONE = { env: {}, cwd: undefined };

function posixWith(files: readonly string[]) {
  const environment = { PATH: "/usr/local/bin:/usr/bin" };
  return {
    platform: "linux",
    environment,
    cwd: "/work",
    isFile: (path: string) => files.includes(path),
  };
}

function windowsWith(files: readonly string[]) {
  const environment = {
    Path: String.raw`C:\node;C:\tools`,
    PATHEXT: ".COM;.EXE;.CMD",
    SECRET: "x",
  };
  const isFile = (path: string): boolean => files.includes(path.toLowerCase());
  return { platform: "win32", environment, cwd: String.raw`C:\work`, isFile };
}

describe("a command", () => {
  test.for([
    ["npx", ["/usr/bin/npx", "/usr/local/bin/npx"], "/usr/local/bin/npx"],
    ["npx", ["/work/npx"], undefined],
    ["./serve", ["/work/./serve"], "/work/./serve"],
    ["/opt/serve", ["/opt/serve"], "/opt/serve"],
  ] as const)("%s is looked for as a shell does: %j", ([command, files, found], { expect }) => {
    expect(findProgram(command, posixWith(files))).toBe(found);
  });

  test.for([
    ["npx", ["c:\\node\\npx", "c:\\node\\npx.cmd"], String.raw`C:\node\npx.CMD`],
    ["uvx", ["c:\\node\\uvx.cmd", "c:\\tools\\uvx.exe"], String.raw`C:\node\uvx.CMD`],
    ["node.exe", ["c:\\tools\\node.exe"], String.raw`C:\tools\node.exe`],
    ["bin\\serve", ["c:\\work\\bin\\serve.exe"], String.raw`C:\work\bin\serve.EXE`],
    ["npx", [], undefined],
  ] as const)("%s has its extension on Windows: %j", ([command, files, found], { expect }) => {
    expect(findProgram(command, windowsWith(files))).toBe(found);
  });

  test("in a relative folder begins there once, since it is started there", ({ expect }) => {
    const server = { name: "files", command: "./run.sh", args: [], env: {}, cwd: "tools" };
    expect(localServer(server, [], posixWith(["/work/tools/./run.sh"]))).toMatchObject({
      ...{ command: { file: "/work/tools/./run.sh" }, cwd: "/work/tools" },
    });
  });

  test("that is not there is known before anything runs", ({ expect }) => {
    const server = { name: "files", command: "nowhere", args: [], ...NONE };
    expect(localServer(server, [], posixWith([]))).toBe('files: there is no program "nowhere"');
  });

  test("is handed to the system as it is, and a batch file to cmd.exe", ({ expect }) => {
    const server = { name: "files", command: "npx", args: ["a b"], ...NONE };
    expect(localServer(server, [], posixWith(["/usr/bin/npx"]))).toMatchObject({
      command: { file: "/usr/bin/npx", args: ["a b"], isVerbatim: false },
    });
    expect(localServer(server, [], windowsWith(["c:\\node\\npx.cmd"]))).toMatchObject({
      command: { file: "cmd.exe", isVerbatim: true },
      environment: { Path: String.raw`C:\node;C:\tools` },
    });
    const broken = { ...server, args: ["a\nb"] };
    expect(localServer(broken, [], windowsWith(["c:\\node\\npx.cmd"]))).toContain("line break");
  });
});

/** What cmd.exe makes of a line: a caret takes the meaning of the next character away. */
function readByCmd(line: string): string {
  return line.replaceAll(/\^(.)/gs, "$1");
}

/** Whether a character that cmd.exe acts on stands without a caret, outside of quotes. */
function isActedOn(line: string): boolean {
  let isQuoted = false;
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? "";
    if (char === "^" && !isQuoted) index += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[&|<>()]/.test(char)) return true;
  }
  return false;
}

/** How the C runtime of Windows divides a command line (Microsoft, parsing C command-line arguments). */
function dividedByRuntime(line: string): readonly string[] {
  const args: string[] = [];
  let current: string | undefined;
  let isQuoted = false;
  for (let index = 0; index < line.length; index++) {
    const slashes = /^\\*/.exec(line.slice(index))?.[0].length ?? 0;
    const isBeforeQuote = line[index + slashes] === '"';
    if (slashes > 0) {
      current = (current ?? "") + "\\".repeat(isBeforeQuote ? Math.floor(slashes / 2) : slashes);
      index += slashes;
      if (isBeforeQuote && slashes % 2 === 1) {
        current += '"';
        continue;
      }
    }
    const char = line[index];
    if (char === undefined) break;
    if (char === '"') {
      isQuoted = !isQuoted;
      current ??= "";
    } else if (char === " " && !isQuoted) {
      if (current !== undefined) args.push(current);
      current = undefined;
    } else current = (current ?? "") + char;
  }
  return current === undefined ? args : [...args, current];
}

describe("the arguments of a batch file", () => {
  test("arrive as they were, through cmd.exe twice and the runtime of the program", ({
    expect,
  }) => {
    const characters = fc.constantFrom(..."ab \\\"'%^&|<>()!;,*?[]=/-é".split(""));
    const args = fc.array(fc.string({ unit: characters, maxLength: 12 }), { maxLength: 4 });
    fc.assert(
      fc.property(args, (given) => {
        const [d, s, c, line = ""] = batchArguments(String.raw`C:\node js\npx.cmd`, given) ?? [];
        expect([d, s, c]).toEqual(["/d", "/s", "/c"]);
        // cmd.exe takes the outermost quotes away (/s).
        const inner = line.slice(1, -1);
        expect(isActedOn(inner)).toBe(false);
        const once = readByCmd(inner);
        const rest = once.slice(String.raw`C:\node js\npx.cmd`.length);
        expect(isActedOn(rest)).toBe(false);
        expect(dividedByRuntime(readByCmd(rest))).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the environment of a local server", () => {
  const person = {
    PATH: "/usr/bin",
    HOME: "/home/me",
    EDGEWAY_KEY: "ew_secret",
    AWS_SECRET_ACCESS_KEY: "secret",
    TOKEN: "named",
    SHELL: "() { :; }; echo",
  };

  test("has what programs need, what is named, and nothing else", ({ expect }) => {
    expect(childEnvironment("linux", person, ["TOKEN", "ABSENT"], { MODE: "ro" })).toEqual({
      PATH: "/usr/bin",
      HOME: "/home/me",
      TOKEN: "named",
      MODE: "ro",
    });
  });

  test("knows no case of names on Windows, and has each once", ({ expect }) => {
    const theirs = { Path: "C:\\", SystemRoot: "C:\\Windows", Token: "named", Secret: "x" };
    expect(childEnvironment("win32", theirs, ["TOKEN"], { PATH: "D:\\" })).toEqual({
      SystemRoot: "C:\\Windows",
      Token: "named",
      PATH: "D:\\",
    });
  });
});
