/**
 * The code that the owner of a gateway on this machine signs in with: made once, and kept in
 * `.dev.vars`, where wrangler reads it.
 */

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

const NAME = "OWNER_CODE";
/** 32 characters that nobody mistakes for one another: no i, l, o or u. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 32 characters of 5 bits each: 160 bits, in groups that the eye can follow. */
const CHARACTERS = 32;
const GROUP = /.{4}(?=.)/g;

/** What a file of secrets says; nothing if there is none. */
export function readSecrets(/** @type {string} */ path) {
  return /** @type {Record<string, string | undefined>} */ (parseEnv(textOf(path) ?? ""));
}

/** @returns the code of the file, which gets one if it has none; its other lines stay. */
export function keepOwnerCode(/** @type {string} */ path) {
  const text = textOf(path);
  const kept = parseEnv(text ?? "")[NAME];
  if (kept !== undefined && kept !== "") return kept;
  const code = newOwnerCode();
  const line = `${NAME}="${code}"\n`;
  if (text !== undefined) replaceFile(path, text + (/[^\n]$/.test(text) ? "\n" : "") + line);
  // Another start of this folder was faster: one code is enough for both.
  else if (!createFile(path, line)) return keepOwnerCode(path);
  return code;
}

function newOwnerCode() {
  const characters = Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET[byte % 32]);
  return characters.join("").replaceAll(GROUP, "$&-");
}

function textOf(/** @type {string} */ path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** @returns whether the file is there by this call; not if it was there before. */
function createFile(/** @type {string} */ path, /** @type {string} */ text) {
  const draft = writeDraft(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function replaceFile(/** @type {string} */ path, /** @type {string} */ text) {
  renameSync(writeDraft(path, text), path);
}

/** A file is put in place whole, and nobody but its owner can read it at any time. */
function writeDraft(/** @type {string} */ path, /** @type {string} */ text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  return draft;
}
