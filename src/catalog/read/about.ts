/** Bounds a server's description of itself: every catalog includes it. */

import type { About } from "../catalog.ts";
import { flawed } from "./flaws.ts";

const MAX_INSTRUCTIONS_CHARS = 16 * 1024;
const MAX_OBJECT_CHARS = 64 * 1024;

export function boundAbout(
  slug: string,
  { capabilities, serverInfo, instructions }: About,
): { readonly about: About; readonly flaws: readonly string[] } {
  const about: About = {
    capabilities: fits(capabilities) ? capabilities : {},
    serverInfo: serverInfo !== undefined && fits(serverInfo) ? serverInfo : undefined,
    instructions: instructions?.slice(0, MAX_INSTRUCTIONS_CHARS),
  };
  const isWhole =
    about.capabilities === capabilities &&
    about.serverInfo === serverInfo &&
    about.instructions === instructions;
  return { about, flaws: isWhole ? [] : [flawed.talkative(slug)] };
}

function fits(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_OBJECT_CHARS;
}
