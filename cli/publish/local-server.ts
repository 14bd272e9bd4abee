/** A server of this machine that is published: how it is started. None of it travels to the gateway but the name. */

import { batchArguments, isBatch } from "./windows-command.ts";
import { childEnvironment } from "./child-environment.ts";
import { findProgram, pathIn, type Surroundings } from "./find-program.ts";

/** As a person wrote it, or their client's configuration. */
export interface ServerDescription {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** What is handed to the system. */
interface StartedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows is not to quote anything once more. */
  readonly isVerbatim: boolean;
}

export interface LocalServer {
  readonly name: string;
  readonly command: StartedCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/**
 * @param named variables of the person's environment that the server gets.
 * @returns why it cannot be started, as a sentence, if it cannot.
 */
export function localServer(
  { name, command, args, env, cwd: written }: ServerDescription,
  named: readonly string[],
  surroundings: Surroundings,
): LocalServer | string {
  const { platform, environment: own } = surroundings;
  const environment = childEnvironment(platform, own, named, env);
  // A relative path of the command begins there, too, once the folder has changed.
  const cwd =
    written === undefined ? surroundings.cwd : pathIn(platform, surroundings.cwd, written);
  const file = findProgram(command, { ...surroundings, environment, cwd });
  if (file === undefined) return `${name}: there is no program "${command}"`;
  if (platform !== "win32" || !isBatch(file)) {
    return { name, command: { file, args, isVerbatim: false }, environment, cwd };
  }
  const verbatim = batchArguments(file, args);
  if (verbatim === undefined)
    return `${name}: an argument has a line break, which cmd.exe cannot pass on`;
  const shell = own["COMSPEC"] ?? own["ComSpec"] ?? "cmd.exe";
  return { name, command: { file: shell, args: verbatim, isVerbatim: true }, environment, cwd };
}
