/** Finds the file of a command as a shell would: one that is not there is known before anything runs. Pure. */

export interface Surroundings {
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths begin at. */
  readonly cwd: string;
  readonly isFile: (path: string) => boolean;
}

/** What Windows takes a name without an extension for, unless it is told otherwise. */
const EXTENSIONS = ".COM;.EXE;.BAT;.CMD";

/** @returns the path of the file; `undefined` where there is none. */
export function findProgram(
  command: string,
  { platform, environment, cwd, isFile }: Surroundings,
): string | undefined {
  const isWindows = platform === "win32";
  const delimiter = isWindows ? ";" : ":";
  const within = (folder: string, path: string): string => pathIn(platform, folder, path);
  const isPath = isWindows ? /[\\/]/.test(command) : command.includes("/");
  const folders = isPath ? [""] : valueOf(environment, "PATH").split(delimiter);
  const extensions = isWindows ? (valueOf(environment, "PATHEXT") || EXTENSIONS).split(";") : [""];
  // A name that has an extension is first looked for as it is.
  const endings = isWindows && /\.\w+$/.test(command) ? ["", ...extensions] : extensions;
  return folders
    .flatMap((folder) => endings.map((end) => within(cwd, within(folder, command + end))))
    .find(isFile);
}

/** @returns a path that begins in the folder, unless it is absolute. */
export function pathIn(platform: string, folder: string, path: string): string {
  const [separator, isAbsolute] =
    platform === "win32" ? (["\\", /^(?:[a-z]:)?[\\/]/i] as const) : (["/", /^\//] as const);
  return folder === "" || isAbsolute.test(path) ? path : folder + separator + path;
}

/** Windows writes `Path`. */
function valueOf(environment: Surroundings["environment"], name: string): string {
  const found = Object.keys(environment).find((key) => key.toUpperCase() === name);
  return environment[found ?? name] ?? "";
}
