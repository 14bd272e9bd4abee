/** What `npm start` shows of the gateway's log, and of what wrangler itself prints. */

import { describe, test } from "vitest";

import { logReader, warningReader } from "../../scripts/log-lines.mjs";

const noon = (): Date => new Date(2026, 0, 1, 12, 0, 5);
const BOLD = "\u001B[1m";
const PLAIN = "\u001B[0m";
const warning = (line: object): string =>
  `\u001B[33m▲ \u001B[43;33m[\u001B[43;30mWARNING\u001B[43;33m]${PLAIN} ${BOLD}${JSON.stringify(line)}${PLAIN}\n\n\n`;

describe("a line of the gateway's log", () => {
  test("is in words, and what others print is left out", ({ expect }) => {
    const read = logReader("edgeway", noon);
    const call = {
      event: "call",
      ...{ principal: "local", server: "demo", method: "tools/call", name: "brew tea" },
      ...{ ms: 12, outcome: "ok", requestBytes: 7, resultBytes: 9 },
    };
    expect(read(`[edgeway] ${JSON.stringify(call)}\n[wrangler] GET /mcp 200\n`)).toBe(
      '12:00:05  tools/call  demo  "brew tea"  ok  12 ms  7 B in, 9 B out  by local\n',
    );
  });

  test("may come in pieces", ({ expect }) => {
    const read = logReader("edgeway", noon);
    expect(read("[edgew")).toBe("");
    expect(read("ay] hello\n")).toBe("12:00:05  hello\n");
  });
});

describe("a warning", () => {
  test("is a line in words, with its sentence at the end, and takes no empty lines", ({
    expect,
  }) => {
    const read = warningReader(noon);
    const first = { event: "configuration", server: "files", message: 'has a "command".' };
    const next = { event: "limit_reached", limit: "streamsPerIsolate", value: 1500 };
    expect(read(warning(first) + warning(next))).toBe(
      '12:00:05  configuration  server=files  has a "command".\n' +
        "12:00:05  limit_reached  limit=streamsPerIsolate  value=1500\n",
    );
  });

  test("cannot begin another line, nor colour one", ({ expect }) => {
    const message = `of a server\r\n12:00:06  audit${BOLD} forged`;
    expect(warningReader(noon)(warning({ event: "resource_conflict", message }))).toBe(
      "12:00:05  resource_conflict  of a server 12:00:06  audit forged\n",
    );
  });

  test("of wrangler's own stays as it is, with its empty lines", ({ expect }) => {
    const own = `\u001B[31m✘ [ERROR]${PLAIN} Port 8787 is in use\n\n{ "not": "a line" }\n`;
    expect(warningReader(noon)(own)).toBe(own);
  });
});
