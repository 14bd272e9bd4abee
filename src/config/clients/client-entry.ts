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
  const { entry, mistakes, isOff, isProgram } = reader;
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

/** Takes one key after the other. */
class EntryReader {
  readonly entry: Record<string, unknown> = {};
  readonly mistakes: string[] = [];
  isOff = false;
  isProgram = false;

  take(key: string, value: unknown, meaning: Meaning | "own"): void {
    switch (meaning) {
      case "own":
        return this.#takeOwn(key, value);
      case "url":
      case "type":
      case "timeoutSeconds":
        return this.#takeOwn(meaning, value, key);
      case "headers":
        return this.#addHeaders(key, value, (header) => header);
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

  #takeOwn(key: string, value: unknown, spelled = key): void {
    if (key === "headers") return this.#addHeaders(spelled, value, (header) => header);
    if (key === "tools" && isObject(value)) return this.#addTools(value);
    const own = key === "type" || key === "transport" ? transport(key, value) : value;
    const known = this.entry[key];
    if (known !== undefined && known !== own) {
      this.mistakes.push(` says its "${key}" twice, and not the same; keep the one that is meant`);
      return undefined;
    }
    this.entry[key] = own;
    return undefined;
  }

  #addHeaders(key: string, value: unknown, valueOf: (text: string) => string): void {
    if (!isObject(value) || !Object.values(value).every((text) => typeof text === "string")) {
      // The schema says what is wrong with its own key.
      if (key === "headers") this.entry[key] = value;
      else this.mistakes.push(`.${key} must be made of strings`);
      return;
    }
    const earlier = this.entry["headers"];
    const headers: Record<string, unknown> = isObject(earlier) ? { ...earlier } : {};
    for (const [name, text] of Object.entries(value)) {
      const isKnown = Object.keys(headers).some(
        (known) => known.toLowerCase() === name.toLowerCase(),
      );
      if (isKnown) this.mistakes.push(`.${key}: the header "${name}" is there twice`);
      headers[name] = valueOf(String(text));
    }
    this.entry["headers"] = headers;
  }

  #addTools(tools: JsonObject): void {
    const { deny, allow } = this.#tools();
    if (allow !== undefined && tools["allow"] !== undefined) this.#allowedTwice();
    const denied = [deny, tools["deny"]].filter((list) => list !== undefined);
    const isMerged = denied.length > 1 && denied.every((list) => Array.isArray(list));
    this.entry["tools"] = {
      ...(allow !== undefined && { allow }),
      ...tools,
      ...(isMerged && { deny: denied.flat() }),
    };
  }

  #addNames(key: string, value: unknown, list: "allow" | "deny"): void {
    if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) {
      this.mistakes.push(`.${key} must be a list of names`);
      return;
    }
    const tools = this.#tools();
    const known = tools[list];
    if (list === "allow" && known !== undefined) this.#allowedTwice();
    this.entry["tools"] = {
      ...tools,
      [list]: [...(Array.isArray(known) ? known : []), ...value],
    };
  }

  #allowedTwice(): void {
    this.mistakes.push(" lists the tools that are allowed twice; keep one list");
  }

  #tools(): JsonObject {
    const { tools } = this.entry;
    return isObject(tools) ? tools : {};
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
