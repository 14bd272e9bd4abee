/** What `npm run ways` counts, on bundles and sources that fit on a screen. */

import { test } from "vitest";

import { censusOf } from "../../scripts/ways/census.ts";
import { filesThatRan, summaryOf } from "../../scripts/ways/files-that-ran.ts";
import { COUNTS_PATH, instrument } from "../../scripts/ways/instrument.ts";

const BUNDLE = `
// node_modules/other/index.js
function other() { return 1; }
// src/lazy.ts
var init = { "src/lazy.ts"() { other(); } };
// src/lib/arrows.ts
var twice = (x) => ({ value: x * 2 });
var unused = () => twice(1);
// src/http/reading.ts
class Reader {
  async read(lines) {
    for await (const line of lines) if (line !== "") twice(line);
  }
}
var handler = { async fetch(request) { init["src/lazy.ts"](); return new Response(twice(1).value); } };
export { Reader, handler as default };
`;

interface Bundle {
  readonly default: { fetch(request: Request): Promise<Response> };
  readonly Reader: new () => { read(lines: AsyncIterable<string>): Promise<void> };
}

test("the report counts the functions of the source, and the iterations of their loops", async ({
  expect,
}) => {
  const { code, functions } = instrument(BUNDLE);
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  const { default: handler, Reader } = (await import(/* @vite-ignore */ url)) as Bundle;
  const counts = async (): Promise<Record<string, number>> => {
    const response = await handler.fetch(new Request(`http://localhost${COUNTS_PATH}`));
    const all = (await response.json()) as number[];
    return Object.fromEntries(
      functions.map(({ name, path }, n) => [`${path} ${name}`, all[n] ?? -1]),
    );
  };
  const lines = new TransformStream<string, string>();
  const writer = lines.writable.getWriter();
  const reading = new Reader().read(lines.readable);
  expect(await (await handler.fetch(new Request("http://localhost/"))).text()).toBe("2");
  expect(await counts()).toEqual({
    "src/lib/arrows.ts twice": 1,
    "src/lib/arrows.ts unused": 0,
    "src/http/reading.ts read": 1,
    "src/http/reading.ts fetch": 1,
  });
  await writer.write("a line");
  await writer.close();
  await reading;
  expect(await counts()).toMatchObject({
    "src/lib/arrows.ts twice": 1,
    "src/http/reading.ts read": 1,
    "src/http/reading.ts fetch": 0,
  });
});

test("the report sums up by file and folder, apart from the general parts", ({ expect }) => {
  const files = filesThatRan([
    { path: "src/lib/sleep.ts", name: "sleep" },
    { path: "src/http/mcp.ts", name: "post" },
    { path: "src/http/mcp.ts", name: "" },
    { path: "src/http/mcp.ts", name: "post" },
    { path: "durable-objects/feeds-stub.ts", name: "feedsIn" },
  ]);
  expect(files.get("src/http/mcp.ts")).toEqual(["post", "(anonymous)"]);
  expect(summaryOf(files)).toEqual({ files: 3, folders: 3, filesToRead: 1 });
});

test("the report finds names that stand for more than one thing", ({ expect }) => {
  const files = [
    { path: "src/a/one.ts", text: "export interface Place {}\nexport const at = 1;\n" },
    { path: "src/b/one.ts", text: "export class Place {}\nconst at = 2;\n" },
  ];
  expect(censusOf(files)).toEqual({
    files: 2,
    lines: 4,
    exportedTwice: new Map([["Place", 2]]),
    baseNamesTwice: new Map([["one.ts", 2]]),
  });
});
