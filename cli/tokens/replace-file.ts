/** Replaces a file at once: whoever reads it finds what was there, or what is there now. */

import { rename, rm, writeFile } from "node:fs/promises";

import { retry } from "../../src/lib/retry.ts";

/** Windows refuses to replace a file while another process reads it, which takes no time. */
export const WHILE_READ = { attempts: 6, backoff: { firstMs: 10 } } as const;

/** Its owner alone can read it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const made = `${path}.${crypto.randomUUID()}`;
  try {
    await writeFile(made, text, { mode: 0o600 });
    await retry(() => rename(made, path), WHILE_READ);
  } finally {
    await rm(made, { force: true });
  }
}
