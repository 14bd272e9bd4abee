import { test } from "vitest";

import { browserCommand, isSomebodyThere } from "../../../../cli/login/browser-command.ts";

test.for([
  ["darwin", {}, true],
  ["win32", {}, true],
  ["linux", {}, false],
  ["linux", { DISPLAY: ":0" }, true],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, true],
  ["linux", { DISPLAY: ":0", SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, false],
  ["darwin", { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, false],
  ["darwin", { CI: "true" }, false],
  ["linux", { BROWSER: "firefox" }, true],
  ["darwin", { BROWSER: "none" }, false],
] as const)("on %s with %j, somebody is there: %s", ([platform, environment, is], { expect }) => {
  expect(isSomebodyThere(platform, environment)).toBe(is);
});

test.for([
  ["linux", {}, ["xdg-open"]],
  ["darwin", {}, ["open"]],
  // `start` is of the shell, which would end the address at its first `&`.
  ["win32", {}, ["rundll32", "url.dll,FileProtocolHandler"]],
  ["linux", { BROWSER: "/usr/bin/firefox" }, ["/usr/bin/firefox"]],
] as const)("on %s with %j, %j opens pages", ([platform, environment, command], { expect }) => {
  expect(browserCommand(platform, environment)).toEqual(command);
});
