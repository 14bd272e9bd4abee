/**
 * A real Chromium for tests. On Linux it comes out of the package registry with everything that it
 * needs, so a machine that has nothing but Node, and no network, can run it, as any user.
 * `CHROMIUM_PATH` names another one; systems without a packaged one use the Chrome that is installed.
 */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";

import { NODE, ROOT } from "./process.ts";

const run = promisify(execFile);

/** The caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ headless: true, ...(await findBrowser()) });
}

/** How it is started. */
export async function findBrowser(): Promise<LaunchOptions> {
  const executablePath = process.env["CHROMIUM_PATH"];
  if (executablePath !== undefined) return { executablePath };
  if (process.platform !== "linux" || process.arch !== "x64") return { channel: "chrome" };
  const folder = await unpack();
  return { executablePath: join(folder, "chromium"), env: environment(folder) };
}

/** What the package does: it unpacks to the folder for temporary files, whatever is there already. */
const UNPACK = `await (await import("@sparticuz/chromium")).default.executablePath()`;

/** @returns the folder it is in, which is filled once for a version, and appears when it is whole. */
async function unpack(): Promise<string> {
  const manifest = readFileSync(`${ROOT}node_modules/@sparticuz/chromium/package.json`, "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  // `npm test` has a folder for temporary files that ends with it.
  const temporary = process.env["LASTING_TMPDIR"] ?? tmpdir();
  const folder = join(temporary, `edgeway-chromium-${version}-${userInfo().uid}`);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}-`);
  // On Lambda it brings the libraries too that a bare system lacks.
  const env = { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
  await run(NODE, ["--input-type=module", "--eval", UNPACK], { cwd: ROOT, env });
  writeFileSync(join(unfinished, "fonts.conf"), fontConfig(folder));
  try {
    await rename(unfinished, folder);
  } catch {
    // Somebody else was faster.
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** The packaged typeface first, so that a page has the same width on every machine. */
function fontConfig(folder: string): string {
  const folders = [join(folder, "fonts"), "/usr/share/fonts", join(homedir(), ".fonts")];
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((path) => `<dir>${path}</dir>`).join("\n")}
<cachedir>${join(folder, "font-cache")}</cachedir>
${preferred("system-ui", "Open Sans")}
${preferred("sans-serif", "Open Sans")}
${preferred("monospace", "DejaVu Sans Mono")}
</fontconfig>
`;
}

function preferred(generic: string, family: string): string {
  return `<alias binding="strong"><family>${generic}</family><prefer><family>${family}</family></prefer></alias>`;
}

function environment(folder: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([, value]) => value !== undefined);
  // The system's own libraries first: only what it lacks comes from the package.
  const libraries = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"];
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    FONTCONFIG_FILE: join(folder, "fonts.conf"),
    LD_LIBRARY_PATH: [...libraries, join(folder, "al2023", "lib")].join(":"),
  };
}
