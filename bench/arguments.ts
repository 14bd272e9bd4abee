/** What `npm run bench -- …` was asked for. Pure; a mistake is one sentence. */

export interface Arguments {
  /** Names of rows, or beginnings of them; all rows if there is none. */
  readonly only: readonly string[];
  readonly output: "table" | "json" | "markdown";
  /** Whether the blocks of `docs/benchmarks.md` and its chart are written, too. */
  readonly write: boolean;
  /** At most, in each pass: a row that takes long has fewer. */
  readonly rounds: number;
  /** How long one participant is under load in one round. */
  readonly seconds: number;
  /** A folder with another version of the project, which takes part beside this one. */
  readonly against: string | undefined;
  /** This row is profiled, and nothing is measured. */
  readonly profile: string | undefined;
  /** Two runs, as `--json` wrote them, are compared, and nothing is measured. */
  readonly compare: readonly [string, string] | undefined;
}

export type Parsed =
  | { readonly ok: true; readonly arguments: Arguments }
  | { readonly ok: false; readonly problem: string };

const USAGE = `npm run bench -- [--only ROW[,ROW]] [--against FOLDER] [--rounds N] [--seconds N] [--json | --markdown] [--write]
npm run bench -- --compare FIRST.json,SECOND.json
npm run bench -- --profile ROW`;

const DEFAULTS: Arguments = {
  only: [],
  output: "table",
  write: false,
  rounds: 5,
  seconds: 0.4,
  against: undefined,
  profile: undefined,
  compare: undefined,
};
const MAX_ROUNDS = 101;
const MAX_SECONDS = 60;

/** @param rows the names that `--only` and `--profile` may say. */
export function parseArguments(given: readonly string[], rows: readonly string[]): Parsed {
  let parsed = DEFAULTS;
  const queue = given.flatMap((argument) => splitOption(argument));
  for (let option = queue.shift(); option !== undefined; option = queue.shift()) {
    const isFlag = ["--json", "--markdown", "--write"].includes(option);
    const value = isFlag ? "" : queue.shift();
    if (value === undefined) return problem(`${option} needs a value.`);
    switch (option) {
      case "--json":
        parsed = { ...parsed, output: "json" };
        break;
      case "--markdown":
        parsed = { ...parsed, output: "markdown" };
        break;
      case "--write":
        parsed = { ...parsed, write: true };
        break;
      case "--only": {
        const only = value.split(",");
        const unknown = only.find(
          (name) => name === "" || !rows.some((row) => row.startsWith(name)),
        );
        if (unknown !== undefined) return unknownRow(unknown, rows);
        parsed = { ...parsed, only: [...parsed.only, ...only] };
        break;
      }
      case "--against":
        parsed = { ...parsed, against: value };
        break;
      case "--profile":
        if (!rows.includes(value)) return unknownRow(value, rows);
        parsed = { ...parsed, profile: value };
        break;
      case "--compare": {
        const [first = "", second = "", ...more] = value.split(",");
        if (first === "" || second === "" || more.length > 0) {
          return problem(`--compare takes two files with a comma between them, not "${value}".`);
        }
        parsed = { ...parsed, compare: [first, second] };
        break;
      }
      case "--rounds": {
        const rounds = Number(value);
        if (!Number.isInteger(rounds) || rounds < 1 || rounds > MAX_ROUNDS) {
          return problem(`--rounds is a whole number from 1 to ${MAX_ROUNDS}, not "${value}".`);
        }
        parsed = { ...parsed, rounds };
        break;
      }
      case "--seconds": {
        const seconds = Number(value);
        if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
          return problem(`--seconds is above 0 and at most ${MAX_SECONDS}, not "${value}".`);
        }
        parsed = { ...parsed, seconds };
        break;
      }
      default:
        return problem(`There is no option ${option}.`);
    }
  }
  return { ok: true, arguments: parsed };
}

/** Whether a row is to be measured. */
export function isAsked({ only }: Pick<Arguments, "only">, row: string): boolean {
  return only.length === 0 || only.some((name) => row.startsWith(name));
}

function splitOption(argument: string): string[] {
  const [, name, value] = /^(--\w+)=(.*)$/s.exec(argument) ?? [];
  return name === undefined || value === undefined ? [argument] : [name, value];
}

function unknownRow(name: string, rows: readonly string[]): Parsed {
  return problem(`There is no row "${name}"; the rows are: ${rows.join(", ")}.`);
}

function problem(sentence: string): Parsed {
  return { ok: false, problem: `${sentence}\n${USAGE}` };
}
