/** Where the command keeps its logins: the folder for such files of each system. */

import { isObject } from "../../src/protocol/json-rpc.ts";

export interface Machine {
  readonly platform: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** `EDGEWAY_STATE` comes before the system's own place. */
export function stateFolder({ platform, home, environment }: Machine): string {
  const { EDGEWAY_STATE = "", XDG_STATE_HOME = "", LOCALAPPDATA = "" } = environment;
  if (EDGEWAY_STATE !== "") return EDGEWAY_STATE;
  if (platform === "win32") {
    return `${LOCALAPPDATA === "" ? `${home}\\AppData\\Local` : LOCALAPPDATA}\\edgeway`;
  }
  if (platform === "darwin") return `${home}/Library/Application Support/edgeway`;
  return `${XDG_STATE_HOME === "" ? `${home}/.local/state` : XDG_STATE_HOME}/edgeway`;
}

/** The folder cannot be made, read or written. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

/** Does something with files of the folder, and nothing else. @throws FolderError. */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Those of the system have the call that failed.
    if (!isObject(error) || typeof error["syscall"] !== "string") throw error;
    throw new FolderError(
      `The folder of the logins, ${folder}, cannot be used (${String(error["code"])}). Set EDGEWAY_STATE to another`,
    );
  }
}
