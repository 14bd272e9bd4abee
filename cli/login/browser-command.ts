/** Whether a page that is opened is seen, and what opens it. */

type Environment = Readonly<Record<string, string | undefined>>;

/** True where a page that is opened is seen: not in a terminal far away, and not in a pipeline. */
export function isSomebodyThere(platform: string, environment: Environment): boolean {
  const {
    CI = "",
    SSH_CONNECTION = "",
    BROWSER = "",
    DISPLAY = "",
    WAYLAND_DISPLAY = "",
  } = environment;
  if (BROWSER !== "") return BROWSER !== "none";
  if (CI !== "" || SSH_CONNECTION !== "") return false;
  return platform === "darwin" || platform === "win32" || DISPLAY + WAYLAND_DISPLAY !== "";
}

/** No shell reads the address, which has characters that mean something to one. */
export function browserCommand(
  platform: string,
  { BROWSER = "" }: Environment,
): readonly [command: string, ...args: string[]] {
  if (BROWSER !== "") return [BROWSER];
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
