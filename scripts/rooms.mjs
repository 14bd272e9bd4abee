/** The rooms of `src` as a drawing (Mermaid), made from the imports. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../src/", import.meta.url));
const IMPORT = /\bfrom "(\.[^"]+)"/g;

/** @returns Markdown: who imports whom, without what follows from other arrows. */
export function drawRooms() {
  const known = importsOfRooms();
  const arrows = [...known].flatMap(([room, others]) => {
    const direct = [...others].filter(
      (other) => ![...others].some((via) => via !== other && reaches(known, via, other)),
    );
    return direct.map((other) => `  ${room} --> ${other}`);
  });
  return ["```mermaid", "flowchart TD", ...arrows.toSorted(), "```"].join("\n");
}

/** @returns {Map<string, Set<string>>} */
function importsOfRooms() {
  const known = new Map();
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const room = roomOf(name);
    const others = known.get(room) ?? new Set();
    known.set(room, others);
    for (const [, path = ""] of readFileSync(join(root, name), "utf8").matchAll(IMPORT)) {
      const target = normalize(join(dirname(name), path));
      if (!target.startsWith("..") && roomOf(target) !== room) others.add(roomOf(target));
    }
  }
  return known;
}

/** Files beside the rooms put them together. */
function roomOf(/** @type {string} */ path) {
  const [top = "", second] = path.split("/");
  return second === undefined ? "app" : top;
}

/** @returns {boolean} whether imports lead from one room to another. */
function reaches(
  /** @type {Map<string, Set<string>>} */ known,
  /** @type {string} */ from,
  /** @type {string} */ to,
) {
  const next = known.get(from) ?? new Set();
  return next.has(to) || [...next].some((via) => reaches(known, via, to));
}
