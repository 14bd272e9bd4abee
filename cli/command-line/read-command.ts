/** What the person wants, from the arguments and the environment. */

import {
  gatewayUrl,
  isSeconds,
  type Mistake,
  mistake,
  splitOption,
  unknownOption,
} from "./arguments.ts";
import { mistakeInKey } from "./read-key.ts";
import { type PublishCommand, readPublish } from "./read-publish.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "connect"; readonly url: URL; readonly deadlineMs: number }
  | { readonly kind: "login" | "logout" | "status"; readonly url: URL }
  | PublishCommand
  | Mistake;

/** Hosts built on the official SDKs give up after a minute, and show this error before that. */
const DEADLINE_SECONDS = 50;
const MAX_DEADLINE_SECONDS = 86_400;
const NAMES = ["connect", "login", "logout", "status"] as const;

/** @param args without the program. */
export function readCommand(args: readonly string[], environment: Environment): Command {
  const [name = "", ...rest] = args;
  // What follows `--` is for another program.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (own.some((arg) => arg === "--help" || arg === "-h")) return { kind: "help" };
  const kind = NAMES.find((known) => known === name);
  if (kind !== undefined) return withKey(readArguments(kind, rest, environment), environment);
  if (name === "publish") return withKey(readPublish(rest, environment), environment);
  if (name === "--version" || name === "-v") return { kind: "version" };
  if (name === "" || name === "help") return { kind: "help" };
  return mistake(`There is no command "${name}". edgeway --help lists them`);
}

/** A login is of a person, who needs no key. */
function withKey(command: Command, environment: Environment): Command {
  const sentence = mistakeInKey(environment);
  const takesKey = ["connect", "publish", "status"].includes(command.kind);
  return takesKey && sentence !== undefined ? mistake(sentence) : command;
}

function readArguments(
  kind: (typeof NAMES)[number],
  args: readonly string[],
  { EDGEWAY_URL = "" }: Environment,
): Command {
  let deadline = DEADLINE_SECONDS;
  let written: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const [option, inline] = splitOption(args[index] ?? "");
    if (option === "--deadline" && kind === "connect") {
      deadline = Number(inline ?? args[++index]);
    } else if (option.startsWith("-")) {
      return unknownOption(option);
    } else if (written === undefined) {
      written = args[index] ?? "";
    } else {
      return mistake(`Give one address, and not ${args[index]} as well`);
    }
  }
  if (!isSeconds(deadline, MAX_DEADLINE_SECONDS)) {
    return mistake(`--deadline is a number of seconds, from 1 to ${MAX_DEADLINE_SECONDS}`);
  }
  const reading = gatewayUrl(written ?? EDGEWAY_URL);
  if (reading.kind === "mistake") return reading;
  const { url } = reading;
  return kind === "connect" ? { kind, url, deadlineMs: deadline * 1000 } : { kind, url };
}
