/**
 * The instructions of several servers in one text: it explains the prefixes of names, and quotes each
 * server's own instructions. Each quotation is under its server's slug, so that no server can speak for
 * another.
 */

import type { Known } from "../../catalog/cache/catalogs.ts";
import type { Server } from "../../endpoint/server.ts";

const MAX_EACH_CHARS = 2048;
const MAX_CHARS = 16 * 1024;
const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
const CUT = "… (cut by the gateway)";

export function jointInstructions(all: readonly Known[]): string {
  const parts = [howNamesAreBuilt(all.map(({ server }) => server))];
  const left: string[] = [];
  let { length } = parts[0] ?? "";
  for (const { server, catalog } of all) {
    const said = catalog?.about.instructions?.trim() ?? "";
    if (said === "") continue;
    const part = `# ${server.slug}\n${quoted(said)}`;
    if (length + part.length > MAX_CHARS) {
      left.push(server.slug);
      continue;
    }
    parts.push(part);
    length += part.length;
  }
  if (left.length > 0) parts.push(`(Left out by the gateway: what ${left.join(", ")} said.)`);
  return parts.join("\n\n");
}

function howNamesAreBuilt(servers: readonly Server[]): string {
  const prefixes = servers.map(({ slug, prefix }) =>
    prefix === "" ? `none for ${slug}` : `${prefix} for ${slug}`,
  );
  const sentence =
    "Several servers meet here. The name of a tool or prompt begins with its server's";
  return `${sentence} prefix: ${cut(prefixes.join(", "))}.`;
}

function quoted(text: string): string {
  return cut(text)
    .split(LINE_ENDS)
    .map((line) => `> ${line}`)
    .join("\n");
}

function cut(text: string): string {
  if (text.length <= MAX_EACH_CHARS) return text;
  return (
    text
      .slice(0, MAX_EACH_CHARS)
      .toWellFormed()
      .replace(/\ufffd$/, "") + CUT
  );
}
