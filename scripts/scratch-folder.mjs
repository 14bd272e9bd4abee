/**
 * A folder for what is written and thrown away, in memory where the system has a place for it. A gateway
 * writes through to its disk what it must not forget: that took a fifth of the processor time of the
 * tests, and a benchmark would measure the disk.
 */

import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Several times what the tests ask for. Containers often have 64 MiB there. */
const MIN_FREE_BYTES = 2 ** 30;

/** @returns its path. The caller removes it. */
export function makeScratchFolder(/** @type {string} */ prefix) {
  if (hasRoom(MEMORY)) {
    const folder = mkdtempSync(join(MEMORY, prefix));
    if (canHoldPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  }
  return mkdtempSync(join(tmpdir(), prefix));
}

function hasRoom(/** @type {string} */ path) {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize >= MIN_FREE_BYTES;
}

/** Not where the file system was mounted with `noexec`. */
function canHoldPrograms(/** @type {string} */ folder) {
  const probe = join(folder, "probe");
  writeFileSync(probe, "", { mode: 0o700 });
  try {
    accessSync(probe, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe);
  }
}
