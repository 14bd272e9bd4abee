/** The command `edgeway`. */

import "./node-20.ts";

import { version } from "../package.json";
import { settleWithin } from "../src/lib/time-out.ts";
import { connect } from "./command-line/connect.ts";
import { HELP } from "./command-line/help.ts";
import { login, logout } from "./command-line/login.ts";
import { publish } from "./command-line/publish.ts";
import { type Command, readCommand } from "./command-line/read-command.ts";
import { status } from "./command-line/status.ts";

/** For what a pipe has not taken yet. The end of `connect` comes before it, and hosts kill after two seconds in all. */
const LAST_WRITES_MS = 300;

/** @returns the exit code. */
async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case "help":
      process.stdout.write(HELP);
      return 0;
    case "version":
      process.stdout.write(`edgeway ${version}\n`);
      return 0;
    case "mistake":
      process.stderr.write(`edgeway: ${command.sentence}\n`);
      return 2;
    case "connect":
      return connect(command, process.env);
    case "publish":
      return publish(command, process.env);
    case "login":
      return login(command.url, process.env);
    case "logout":
      return logout(command.url, process.env);
    case "status":
      return status(command.url, process.env);
  }
}

// Who reads it may go before the command does, which still has to end its processes.
process.stderr.on("error", () => undefined);
const code = await run(readCommand(process.argv.slice(2), process.env));
// An exit would lose what a pipe has not taken yet. Who has stopped reading, and keeps the pipe, would never take it.
const written = new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
await settleWithin(written, LAST_WRITES_MS);
// Connections that are kept for a next request would keep the process.
process.exit(code);
