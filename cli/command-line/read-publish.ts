/** The arguments of `edgeway publish`. What follows `--` is the local server's, whatever it looks like. */

import { isPublishedName } from "../../src/protocol/publishing.ts";
import {
  gatewayUrl,
  isSeconds,
  type Mistake,
  mistake,
  splitOption,
  unknownOption,
} from "./arguments.ts";

export interface PublishCommand {
  readonly kind: "publish";
  readonly url: URL;
  /** One server, or the file that has a map of them. */
  readonly what:
    | { readonly name: string; readonly command: string; readonly args: readonly string[] }
    | { readonly file: string };
  /** Variables of the environment that the servers get. */
  readonly named: readonly string[];
  readonly isShared: boolean;
  readonly idleMs: number;
}

const IDLE_SECONDS = 600;
const MAX_IDLE_SECONDS = 86_400;
const WITH_VALUE: ReadonlySet<string> = new Set(["--to", "--config", "--env", "--idle"]);
/** Somebody may have left the dashes out. */
const HINT = "; what starts the server goes after --";
const VARIABLE = /^[A-Za-z_]\w*$/;
const USAGE = "edgeway publish NAME --to URL -- COMMAND, or edgeway publish --config FILE --to URL";

export function readPublish(
  args: readonly string[],
  { EDGEWAY_URL = "" }: Readonly<Record<string, string | undefined>>,
): PublishCommand | Mistake {
  const dashes = args.indexOf("--");
  const own = dashes === -1 ? args : args.slice(0, dashes);
  const [command, ...commandArgs] = dashes === -1 ? [] : args.slice(dashes + 1);
  const given = readOptions(own);
  if ("kind" in given) return given;
  const { to = EDGEWAY_URL, config, names, named, isShared, idle } = given;
  const [name, ...others] = names;
  const isOne = config === undefined && command !== undefined && name !== undefined;
  const isMap = config !== undefined && command === undefined && name === undefined;
  if ((!isOne && !isMap) || others.length > 0) return mistake(`Write ${USAGE}`);
  if (isOne && !isPublishedName(name)) {
    return mistake(`"${names.join()}" is no name: it has up to 32 characters of a-z, 0-9 and -`);
  }
  if (!isSeconds(idle, MAX_IDLE_SECONDS)) {
    return mistake(`--idle is a number of seconds, from 1 to ${MAX_IDLE_SECONDS}`);
  }
  const wrong = named.find((variable) => !VARIABLE.test(variable));
  if (wrong !== undefined) {
    return mistake(`--env takes the name of a variable, and its value from the environment`);
  }
  const reading = gatewayUrl(to);
  if (reading.kind === "mistake") return reading;
  const what = isOne ? { name, command, args: commandArgs } : { file: config ?? "" };
  // Publishing is for the whole of the gateway, and so is the login for it.
  const url = new URL("/mcp", reading.url);
  return { kind: "publish", url, what, named, isShared, idleMs: idle * 1000 };
}

interface Given {
  to?: string;
  config?: string;
  readonly names: string[];
  readonly named: string[];
  isShared: boolean;
  idle: number;
}

function readOptions(args: readonly string[]): Given | Mistake {
  const given: Given = { names: [], named: [], isShared: false, idle: IDLE_SECONDS };
  for (let index = 0; index < args.length; index++) {
    const [option, inline] = splitOption(args[index] ?? "");
    if (option === "--share") given.isShared = true;
    else if (!option.startsWith("-")) given.names.push(option);
    else if (!WITH_VALUE.has(option)) return unknownOption(option, HINT);
    else {
      const value = inline ?? args[++index] ?? "";
      if (value === "" || value.startsWith("--")) return mistake(`${option} needs a value`);
      if (option === "--to") given.to = value;
      else if (option === "--config") given.config = value;
      else if (option === "--env") given.named.push(value);
      else given.idle = Number(value);
    }
  }
  return given;
}
