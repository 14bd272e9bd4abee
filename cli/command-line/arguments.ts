/** Parts of the arguments that several commands have. */

import { readUrl, type UrlReading } from "./read-url.ts";

export interface Mistake {
  readonly kind: "mistake";
  readonly sentence: string;
}

export function mistake(sentence: string): Mistake {
  return { kind: "mistake", sentence };
}

/** `--name=value` as two; any other argument as one. */
export function splitOption(arg: string): readonly [string, string?] {
  const [, name, value] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? [];
  return name === undefined ? [arg] : [name, value ?? ""];
}

export function unknownOption(option: string, hint = ""): Mistake {
  return mistake(`There is no option ${option}. edgeway --help lists them${hint}`);
}

/** @param written or "", where the environment may have it. */
export function gatewayUrl(written: string): UrlReading {
  if (written === "") return mistake("Give the gateway's address, or set EDGEWAY_URL to it");
  return readUrl(written);
}

export function isSeconds(seconds: number, most: number): boolean {
  return seconds > 0 && seconds <= most;
}
