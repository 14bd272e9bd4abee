/** The browser of the person at this machine. */

import { spawn } from "node:child_process";

import { browserCommand } from "./browser-command.ts";

/** Opens a page. Whether somebody sees it is not known, so that its address is shown as well. */
export function openBrowser(address: string): void {
  const [command, ...args] = browserCommand(process.platform, process.env);
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
