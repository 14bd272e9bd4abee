/** One entry of a client's map, in the keys of this gateway. */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { type Meaning, SPELLINGS, transportOf } from "./spellings.ts";

export interface ReadEntry {
  /** `program`: it is not reached by a URL. `off`: the client does not use it either. */
  readonly kind: "server" | "program" | "off";
  readonly entry: JsonObject;
  /** What is in doubt; each goes on from the name of the entry, to the end of a sentence. */
  readonly mistakes: readonly string[];
}

export function readEntry(given: JsonObject): ReadEntry {
  const reader = new EntryReader();
  for (const [key, value] of Object.entries(given)) {
    const meaning = meaningOf(key, value);
    // A client's way to leave a key out.
    if (value !== null || meaning === "own") reader.take(key, value, meaning);
  }
  const { mistakes, isOff, isProgram } = reader;
  const entry = reader.finish();
  const isReached = entry["url"] !== undefined || entry["service"] !== undefined;
  if (isOff) return { kind: "off", entry, mistakes: [] };
  if (isProgram && isReached) {
    mistakes.push(' has both "command" and "url"; keep the one that is meant');
  } else if (isProgram || (!isReached && isStdio(entry))) {
    return { kind: "program", entry, mistakes: [] };
  }
  return { kind: "server", entry, mistakes };
}

function isStdio({ type, transport }: JsonObject): boolean {
  return [type, transport].some((spelled) => transportOf(spelled) === "stdio");
}

function meaningOf(key: string, value: unknown): Meaning | "own" {
  if (key === "tools" && Array.isArray(value)) return "allow";
  // `false` of opencode: no login there.
  if (key === "oauth" && value === false) return "ignored";
  return (Object.hasOwn(SPELLINGS, key) ? SPELLINGS[key] : undefined) ?? "own";
}

/** Takes one key after the other, in any order, and puts together what belongs together at the end. */
class EntryReader {
  readonly mistakes: string[] = [];
  isOff = false;
  isProgram = false;
  readonly #own: Record<string, unknown> = {};
  readonly #lists: Readonly<Record<"allow" | "deny", string[][]>> = { allow: [], deny: [] };
  /** Of keys that are not the gateway's own. */
  readonly #headers: (readonly [name: string, value: string])[] = [];

  take(key: string, value: unknown, meaning: Meaning | "own"): void {
    switch (meaning) {
      case "own":
        return this.#takeOwn(key, value);
      case "url":
      case "type":
      case "timeoutSeconds":
        return this.#takeOwn(meaning, value);
      case "headers":
        return this.#addHeaders(key, value, (text) => text);
      case "secret-headers":
        return this.#addHeaders(key, value, (name) => `\${${name}}`);
      case "token":
        return this.#addHeaders(key, { Authorization: value }, (name) => `Bearer \${${name}}`);
      case "allow":
      case "deny":
        return this.#addNames(key, value, meaning);
      case "off-if-true":
      case "off-if-false":
        return this.#switch(key, value, meaning === "off-if-true");
      case "program":
        this.isProgram = true;
        return undefined;
      case "ignored":
        return undefined;
    }
  }

  /** @returns the entry. A value of a wrong kind stays in it, so that the schema refuses it. */
  finish(): JsonObject {
    const { headers, tools, ...rest } = this.#own;
    const all = this.#allHeaders(headers);
    const lists = this.#allLists(tools);
    return {
      ...rest,
      ...(all !== undefined && { headers: all }),
      ...(lists !== undefined && { tools: lists }),
    };
  }

  #takeOwn(key: string, value: unknown): void {
    const own = key === "type" || key === "transport" ? transport(key, value) : value;
    const known = this.#own[key];
    if (known === undefined || known === own) this.#own[key] = own;
    else
      this.mistakes.push(` says its "${key}" twice, and not the same; keep the one that is meant`);
  }

  #addHeaders(key: string, value: unknown, valueOf: (text: string) => string): void {
    const texts = isObject(value) ? Object.entries(value) : [];
    for (const [name, text] of texts) {
      if (typeof text === "string") this.#headers.push([name, valueOf(text)]);
      else this.mistakes.push(`.${key} must be made of strings`);
    }
    if (!isObject(value)) this.mistakes.push(`.${key} must be a table of strings`);
  }

  #allHeaders(own: unknown): unknown {
    if (this.#headers.length === 0 || (own !== undefined && !isObject(own))) return own;
    const all: Record<string, unknown> = { ...own };
    for (const [name, value] of this.#headers) {
      const isKnown = Object.keys(all).some((each) => each.toLowerCase() === name.toLowerCase());
      if (isKnown) this.mistakes.push(`.headers: "${name}" is there twice`);
      all[name] = value;
    }
    return all;
  }

  #addNames(key: string, value: unknown, list: "allow" | "deny"): void {
    if (Array.isArray(value) && value.every((name) => typeof name === "string")) {
      this.#lists[list].push(value);
    } else this.mistakes.push(`.${key} must be a list of names`);
  }

  #allLists(own: unknown): unknown {
    const { allow, deny } = this.#lists;
    if (allow.length + deny.length === 0 || (own !== undefined && !isObject(own))) return own;
    const { allow: ownAllow, deny: ownDeny } = own ?? {};
    // A tool is allowed where both lists have it, which patterns cannot say.
    if (allow.length + (ownAllow === undefined ? 0 : 1) > 1) {
      this.mistakes.push(" lists the tools that are allowed twice; keep one list");
    }
    const isReadable = ownDeny === undefined || Array.isArray(ownDeny);
    return {
      ...(allow[0] !== undefined && { allow: allow[0] }),
      ...own,
      ...(deny.length > 0 && isReadable && { deny: [...deny, ownDeny ?? []].flat() }),
    };
  }

  #switch(key: string, value: unknown, offValue: boolean): void {
    if (typeof value !== "boolean") this.mistakes.push(`.${key} must be true or false`);
    else if (value === offValue) this.isOff = true;
  }
}

/** In the words of the schema, which says what is wrong with others. */
function transport(key: "type" | "transport", spelled: unknown): unknown {
  const known = transportOf(spelled);
  if (known === "sse") return known;
  if (known !== "http" || spelled === "streamable-http") return spelled;
  return key === "type" ? "http" : "auto";
}

const REMOTE = /^mcp-remote(?:@|$)/;

/** @returns the address that a program only leads to, if it is `mcp-remote`, and has no secret in it. */
export function addressBehind({ args, command }: JsonObject): string | undefined {
  const words = [command, args].flat().filter((word) => typeof word === "string");
  const at = words.findIndex((word) => REMOTE.test(word));
  const found = at === -1 ? undefined : words.slice(at).find((word) => /^https?:/.test(word));
  const url = found !== undefined && URL.canParse(found) ? new URL(found) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === "";
  return isPlain ? url.href : undefined;
}
