import { test } from "vitest";

import { stateFolder } from "../../../../cli/tokens/state-folder.ts";

test.for([
  ["linux", "/home/ann", {}, "/home/ann/.local/state/edgeway"],
  ["linux", "/home/ann", { XDG_STATE_HOME: "/var/ann" }, "/var/ann/edgeway"],
  ["darwin", "/Users/ann", {}, "/Users/ann/Library/Application Support/edgeway"],
  ["win32", "C:\\Users\\ann", {}, "C:\\Users\\ann\\AppData\\Local\\edgeway"],
  ["win32", "C:\\Users\\ann", { LOCALAPPDATA: "D:\\Local" }, "D:\\Local\\edgeway"],
  ["linux", "/home/ann", { EDGEWAY_STATE: "/tmp/state" }, "/tmp/state"],
] as const)("on %s, in %s, with %j: %s", ([platform, home, environment, folder], { expect }) => {
  expect(stateFolder({ platform, home, environment })).toBe(folder);
});
