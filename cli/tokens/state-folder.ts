/** Where the command keeps its logins: the folder for such files of each system. */

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
