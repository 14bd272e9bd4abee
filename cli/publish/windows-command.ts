/**
 * How Windows is told to start a program. It passes one text on, which the program divides itself; a batch file, as
 * `npx.cmd`, is read by cmd.exe, which has characters of its own. Pure.
 */

const BATCH = /\.(?:cmd|bat)$/i;
/** What cmd.exe reads as more than itself. */
const META = /[()[\]%!^"`<>&|;, *?]/g;

export function isBatch(file: string): boolean {
  return BATCH.test(file);
}

/**
 * The arguments of cmd.exe that start a batch file; they are to be passed on verbatim.
 *
 * @returns `undefined` for arguments that cmd.exe cannot pass on: its line ends where theirs does.
 */
export function batchArguments(
  file: string,
  args: readonly string[],
): readonly string[] | undefined {
  if ([file, ...args].some((text) => /[\r\n\0]/.test(text))) return undefined;
  // A batch file hands its arguments on to a program, so that cmd.exe reads them twice.
  const written = args.map((arg) => caretted(caretted(quoted(arg))));
  return ["/d", "/s", "/c", `"${[caretted(file), ...written].join(" ")}"`];
}

/** As the C runtime divides a command line: backslashes count only before a quote. */
function quoted(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, "$1$1")}"`;
}

function caretted(text: string): string {
  return text.replaceAll(META, "^$&");
}
