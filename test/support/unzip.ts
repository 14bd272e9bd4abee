/** Reads a zip archive by its directory, as unpackers do, and by the headers before its files, as streams do. */

import { inflateRawSync, crc32 } from "node:zlib";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const STORED = 0;

export interface ZippedFile {
  readonly path: string;
  readonly bytes: Buffer;
  /** `st_mode`, as Unix unpackers set it. */
  readonly mode: number;
}

/** @throws Error where the archive contradicts itself. */
export function unzip(archive: Buffer): readonly ZippedFile[] {
  const end = archive.byteLength - END_BYTES;
  expectSame("the end of the directory", archive.readUInt32LE(end), END);
  const files: ZippedFile[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let n = 0; n < archive.readUInt16LE(end + 10); n++) {
    expectSame("an entry", archive.readUInt32LE(at), ENTRY);
    const nameBytes = archive.readUInt16LE(at + 28);
    const local = archive.readUInt32LE(at + 42);
    expectSame("a local header", archive.readUInt32LE(local), LOCAL);
    const common = archive.subarray(local + 4, local + 30);
    expectSame("both headers", archive.subarray(at + 6, at + 32).compare(common), 0);
    const name = archive.subarray(at + 46, at + 46 + nameBytes);
    expectSame("both names", archive.subarray(local + 30, local + 30 + nameBytes).compare(name), 0);
    const begin = local + 30 + nameBytes + archive.readUInt16LE(local + 28);
    const packed = archive.subarray(begin, begin + archive.readUInt32LE(at + 20));
    const bytes = archive.readUInt16LE(at + 10) === STORED ? packed : inflateRawSync(packed);
    expectSame("the checksum", crc32(bytes), archive.readUInt32LE(at + 16));
    const mode = archive.readUInt32LE(at + 38) >>> 16;
    files.push({ path: name.toString(), bytes, mode });
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  expectSame("the length of the directory", at, end);
  return files;
}

function expectSame(what: string, is: number, expected: number): void {
  if (is !== expected) throw new Error(`${what}: ${is} and not ${expected}`);
}
