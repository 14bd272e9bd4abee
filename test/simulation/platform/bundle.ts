/** The gateway as one readable program, the way it is deployed but not minified. */

import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { build as esbuild } from "esbuild";

import { withMemory } from "./memory.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Text that is replaced in a file of the project, for one program alone. */
export interface Edit {
  /** From the project's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** @throws Error when the text of an edit is not in its file exactly once. */
export async function bundleGateway(edits: readonly Edit[] = []): Promise<string> {
  const result = await esbuild({
    entryPoints: [join(ROOT, "src/index.ts")],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    target: "esnext",
    logLevel: "silent",
    plugins: [
      {
        // A file to download, which nobody in a simulation does.
        name: "downloads",
        setup(build) {
          build.onResolve({ filter: /\.mcpb$/ }, ({ path }) => ({ path, namespace: "download" }));
          build.onLoad({ filter: /.*/, namespace: "download" }, () => ({
            contents: "",
            loader: "text",
          }));
        },
      },
      {
        name: "own files",
        setup(build) {
          const own = new RegExp(`^${escape(ROOT)}/(?:src|durable-objects)/.*\\.ts$`);
          build.onLoad({ filter: own }, async ({ path }) => {
            const file = relative(ROOT, path);
            let contents = await readFile(path, "utf8");
            for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
              if (contents.split(find).length !== 2) {
                throw new Error(`${file} does not have exactly once: ${find}`);
              }
              contents = contents.replace(find, () => replace);
            }
            return { contents: withMemory(contents, file), loader: "ts" };
          });
        },
      },
    ],
  });
  return result.outputFiles[0]?.text ?? "";
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
