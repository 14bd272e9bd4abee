/** What a configuration says is wrong. */

import type { ConfigResult } from "../../../src/config/config.ts";

/** The mistakes of the whole gateway; if there are none, those of single entries. */
export function mistakesOf(parsed: ConfigResult): readonly string[] {
  if (!parsed.ok) return parsed.problems;
  return parsed.config.notices.flatMap(({ sentences }) => sentences);
}
