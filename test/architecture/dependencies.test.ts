/** What is installed: exact, locked, the same everywhere, and one runtime only. */

import { readFileSync } from "node:fs";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const manifest: Manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const lock: Lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, "utf8"));
const paths = Object.keys(lock.packages);

describe("dependencies", () => {
  test("have exact versions", ({ expect }) => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual(
      [],
    );
  });

  test("bring one workerd, for every platform", ({ expect }) => {
    const runtimes = paths.filter((path) => /(^|\/)node_modules\/workerd$/.test(path));
    expect(runtimes).toEqual(["node_modules/workerd"]);
    const platforms = paths
      .filter((path) => path.startsWith("node_modules/@cloudflare/workerd-"))
      .map((path) => path.replace("node_modules/@cloudflare/workerd-", ""));
    expect(platforms.toSorted()).toEqual([
      "darwin-64",
      "darwin-arm64",
      "linux-64",
      "linux-arm64",
      "windows-64",
    ]);
  });

  test("are locked for every platform, because npm drops what a registry lacks, and npm ci then fails", ({
    expect,
  }) => {
    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)));
    expect(missing).toEqual([]);
  });

  test("are locked without the address of any one registry", ({ expect }) => {
    const addressed = Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined);
    expect(addressed).toEqual([]);
  });
});
