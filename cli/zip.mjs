/**
 * A zip archive (APPNOTE.TXT 6.3) of a few small files, stored as they are: the same files are the same bytes,
 * whatever version of zlib there is.
 */

import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** 2.0; since then there are folders. */
const VERSION = 20;
const UNIX = 3 << 8;
const UTF_8 = 1 << 11;
const STORED = 0;
/** 1 January 1980, the first day that there is. */
const DAY = (1 << 5) | 1;
/** A file that everybody may read. */
const MODE = (0o100644 << 16) >>> 0;

/**
 * @param {readonly { readonly path: string; readonly bytes: Uint8Array }[]} files in their order; paths with `/`.
 * @returns {Buffer}
 */
export function zip(files) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {Buffer[]} */
  const directory = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    const name = Buffer.from(path);
    // What a local header and an entry of the directory have in common (sections 4.3.7 and 4.3.12).
    const common = fields([
      ...[short(VERSION), short(UTF_8), short(STORED), short(0), short(DAY)],
      ...[long(crc32(bytes)), long(bytes.byteLength), long(bytes.byteLength)],
      ...[short(name.byteLength), short(0)],
    ]);
    directory.push(
      fields([
        ...[long(CENTRAL), short(UNIX | VERSION), common],
        ...[short(0), short(0), short(0), long(MODE), long(offset), name],
      ]),
    );
    const local = fields([long(LOCAL), common, name]);
    parts.push(local, Buffer.from(bytes));
    offset += local.byteLength + bytes.byteLength;
  }
  const listed = fields(directory);
  const count = short(files.length);
  return fields([
    ...[...parts, listed],
    ...[long(END), short(0), short(0), count, count],
    ...[long(listed.byteLength), long(offset), short(0)],
  ]);
}

function fields(/** @type {readonly Buffer[]} */ all) {
  return Buffer.concat(all);
}

function short(/** @type {number} */ value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function long(/** @type {number} */ value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
