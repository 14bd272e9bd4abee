import { describe, test } from "vitest";

import { readCommand } from "../../../../cli/command-line/read-command.ts";
import { readUrl } from "../../../../cli/command-line/read-url.ts";

function hrefOf(written: string): string {
  const reading = readUrl(written);
  return reading.kind === "url" ? reading.url.href : reading.sentence;
}

describe("an address", () => {
  test.for([
    ["https://mcp.example.com", "https://mcp.example.com/mcp"],
    ["https://mcp.example.com/mcp/docs#part", "https://mcp.example.com/mcp/docs"],
    ["http://localhost:8787/mcp", "http://localhost:8787/mcp"],
    ["http://127.0.0.1:8787", "http://127.0.0.1:8787/mcp"],
    ["http://[::1]:8787", "http://[::1]:8787/mcp"],
    // As hosts on Windows pass arguments and values on.
    ['"https://mcp.example.com/mcp"', "https://mcp.example.com/mcp"],
    [" 'https://mcp.example.com/mcp' ", "https://mcp.example.com/mcp"],
    ["https://mcp.example.com/mcp/a%20b", "https://mcp.example.com/mcp/a%20b"],
    ["https://mcp.example.com/mcp/a b", "https://mcp.example.com/mcp/a%20b"],
  ] as const)("S9: %j is %s", ([written, href], { expect }) => {
    expect(hrefOf(written)).toBe(href);
  });

  test.for([
    ["mcp.example.com", "is no address"],
    ["http://mcp.example.com/mcp", "is not https"],
    ["http://localhost.example.com/mcp", "is not https"],
    ["file:///etc/passwd", "is not https"],
    ["https://me:secret@mcp.example.com/mcp", "set EDGEWAY_KEY"],
  ] as const)("%s is refused", ([written, sentence], { expect }) => {
    expect(hrefOf(written)).toContain(sentence);
    expect(hrefOf(written)).not.toContain("secret");
  });
});

describe("the arguments", () => {
  const url = "https://mcp.example.com/mcp";

  test.for([
    [["connect", url], {}],
    [["connect"], { EDGEWAY_URL: `"${url}"` }],
    [["connect", url], { EDGEWAY_URL: "https://other.example.com/mcp" }],
  ] as const)("%j with %j connect", ([args, environment], { expect }) => {
    const command = readCommand(args, environment);
    expect(command).toEqual({ kind: "connect", url: new URL(url), deadlineMs: 50_000 });
  });

  test.for(["login", "logout", "status"] as const)(
    "%s needs no more than the address",
    (kind, { expect }) => {
      expect(readCommand([kind, url], {})).toEqual({ kind, url: new URL(url) });
      expect(readCommand([kind, url, "--deadline", "1"], {})).toMatchObject({ kind: "mistake" });
    },
  );

  test.for([[["--deadline", "2.5"]], [["--deadline=2.5"]]] as const)(
    "%j sets the deadline",
    ([option], { expect }) => {
      expect(readCommand(["connect", url, ...option], {})).toMatchObject({ deadlineMs: 2500 });
    },
  );

  test("what follows -- is the local server's, whatever it looks like", ({ expect }) => {
    const args = ["publish", "files", "--env", "TOKEN", "--share", "--idle=30", "--", "npx"];
    const theirs = ["-y", "--help", "--", "--to", "x y"];
    expect(readCommand([...args, ...theirs], { EDGEWAY_URL: `${url}/docs` })).toEqual({
      kind: "publish",
      url: new URL(url),
      what: { name: "files", command: "npx", args: theirs },
      named: ["TOKEN"],
      isShared: true,
      idleMs: 30_000,
    });
  });

  test("a file takes the place of a name and a command", ({ expect }) => {
    expect(readCommand(["publish", "--config", "mcp.json", "--to", url], {})).toEqual({
      kind: "publish",
      url: new URL(url),
      what: { file: "mcp.json" },
      named: [],
      isShared: false,
      idleMs: 600_000,
    });
  });

  test.for([[[]], [["--help"]], [["help"]], [["connect", "-h"]]] as const)(
    "%j ask for help",
    ([args], { expect }) => {
      expect(readCommand(args, {})).toEqual({ kind: "help" });
    },
  );

  test.for([
    [["connect"], "set EDGEWAY_URL"],
    [["connect", url, "--deadline", "soon"], "--deadline is a number"],
    [["connect", url, "--deadline"], "--deadline is a number"],
    [["connect", url, "--token", "x"], "no option --token"],
    [["connect", url, `${url}/docs`], "Give one address"],
    [["status", url, "more"], "Give one address"],
    [["serve"], 'no command "serve"'],
    [["publish", "files", "--to", url, "npx", "-y", "pkg"], "what starts the server goes after --"],
    [["publish", "files", "--to", "--", "node"], "--to needs a value"],
    [["publish", "--config", "--to", url], "--config needs a value"],
    [["publish", "files", "--env", "--to", url, "--", "node"], "--env needs a value"],
    [["publish", "files", "--to", url, "--idle=", "--", "node"], "--idle needs a value"],
    [["publish", "files", "--", "node"], "set EDGEWAY_URL"],
    [["publish", "--to", url, "--", "node"], "Write edgeway publish NAME"],
    [["publish", "files", "--to", url], "Write edgeway publish NAME"],
    [["publish", "files", "more", "--to", url, "--", "node"], "Write edgeway publish NAME"],
    [["publish", "files", "--config", "x.json", "--to", url], "Write edgeway publish NAME"],
    [["publish", "My Files", "--to", url, "--", "node"], "is no name"],
    [["publish", "files", "--to", url, "--idle", "0", "--", "node"], "--idle is a number"],
    [["publish", "files", "--to", url, "--env", "A=secret", "--", "node"], "--env takes the name"],
    [["publish", "files", "--to", url, "--key", "x", "--", "node"], "no option --key"],
  ] as const)("%j are a mistake", ([args, sentence], { expect }) => {
    const command = readCommand(args, {});
    expect(command).toMatchObject({ kind: "mistake", sentence: expect.stringContaining(sentence) });
  });
});
