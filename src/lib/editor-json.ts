/** JSON as editors keep it: with comments, a comma after the last member, and a byte order mark before the first. */

import { tryJson } from "./try-json.ts";

const STRING = /("(?:\\.|[^"\\])*")/.source;
const COMMENT = new RegExp(`${STRING}|//.*|/\\*[^]*?\\*/`, "g");
const LAST_COMMA = new RegExp(`${STRING}|,(?=\\s*[}\\]])`, "g");

/** @returns `undefined` for text that is not even that. */
export function parseEditorJson(written: string): unknown {
  const text = written.replace(/^\uFEFF/, "");
  return tryJson(text) ?? tryJson(text.replace(COMMENT, "$1").replace(LAST_COMMA, "$1"));
}
