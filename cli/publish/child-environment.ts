/**
 * The environment of a local server: what programs need to run at all, and what the person named. The rest of the
 * person's own, with the keys in it, is none of its business. Pure.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/** Those that the stdio clients of the official SDKs pass on, and the language. */
const POSIX = "HOME LOGNAME PATH SHELL TERM USER LANG LC_ALL LC_CTYPE TMPDIR TZ";
const WINDOWS =
  "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE PROGRAMFILES PROGRAMDATA COMSPEC PATHEXT WINDIR";

/**
 * @param named variables of the person's own environment.
 * @param own values that the person's configuration has for this server.
 */
export function childEnvironment(
  platform: string,
  environment: Environment,
  named: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  // Names are the same in any case on Windows, which writes `Path`.
  const fold = (name: string): string => (platform === "win32" ? name.toUpperCase() : name);
  const usual = (platform === "win32" ? WINDOWS : POSIX).split(" ");
  const wanted = new Set([...usual, ...named].map(fold));
  const given = new Set(Object.keys(own).map(fold));
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      wanted.has(fold(entry[0])) &&
      !given.has(fold(entry[0])) &&
      // A function of bash, which would be run by the next one.
      !entry[1].startsWith("()"),
  );
  return { ...Object.fromEntries(passed), ...own };
}
