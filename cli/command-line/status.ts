/** `edgeway status`: says whether `connect` would work, and what to do if it would not. */

import { tryJson } from "../../src/lib/try-json.ts";
import { Meta } from "../../src/protocol/envelope.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { LoginNeeded } from "../http/failures.ts";
import { Gateway } from "../http/gateway.ts";
import { modernHeaders } from "../http/modern-headers.ts";
import { discover } from "../login/discovery.ts";
import { LoginError } from "../login/login-error.ts";
import { POST_HEADERS } from "../relay/answers.ts";
import { accessOf, answerIn } from "./access.ts";
import { credentialsOf, loginFile } from "./credentials.ts";
import { RIGHT_ADDRESS, problemOfAnswer } from "./diagnosis.ts";
import { explained, timeOut } from "./explained.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";
import { keyOf } from "./read-key.ts";

const DISCOVER = {
  jsonrpc: "2.0",
  id: "status",
  method: "server/discover",
  params: {
    _meta: {
      [Meta.protocolVersion]: "2026-07-28",
      [Meta.clientCapabilities]: {},
    },
  },
} as const;
const HEADERS = { ...POST_HEADERS, ...modernHeaders(DISCOVER.method, DISCOVER.params) };

/** @returns the exit code. */
export function status(url: URL, environment: Environment): Promise<number> {
  return explained(url, async () => {
    const file = loginFile(url, environment);
    const { tokens: before } = await file.read();
    const gateway = new Gateway(url, credentialsOf(url, environment), () => undefined);
    const request = { method: "POST", headers: HEADERS, body: JSON.stringify(DISCOVER) } as const;
    let response: Response;
    try {
      response = await gateway.send({ ...request, signal: timeOut() }, { deadline: 0 });
    } catch (error) {
      if (!(error instanceof LoginNeeded) || keyOf(environment) !== undefined) throw error;
      const hasEnded = before !== undefined && (await file.read()).tokens === undefined;
      throw hasEnded ? new LoginNeeded(`${ENDED}. ${error.message}`) : await possible(url, error);
    }
    const answer = await answerIn(response);
    const problem = problemOfAnswer(url, answer);
    if (problem !== undefined) {
      notice(problem);
      return 1;
    }
    const who = await whoOf(url, environment);
    process.stdout.write(`${url.href} can be reached, ${who}.${nameIn(answer.text)}\n`);
    return 0;
  });
}

const ENDED = "The login of this machine has ended: the gateway does not renew it";

/** Whether there is a login at all that the command could begin. */
async function possible(url: URL, needed: LoginNeeded): Promise<Error> {
  try {
    await discover(url, (await accessOf(url)).challenge ?? "", timeOut());
    return needed;
  } catch (error) {
    if (!(error instanceof LoginError)) throw error;
    return new LoginError(
      `${url.href} asks for a login that is not a gateway’s (${error.message}). ${RIGHT_ADDRESS}`,
    );
  }
}

async function whoOf(url: URL, environment: Environment): Promise<string> {
  if (keyOf(environment) !== undefined) return "with the API key in EDGEWAY_KEY";
  const { tokens } = await loginFile(url, environment).read();
  if (tokens === undefined) return "without a login";
  const since = new Date(tokens.obtainedAt).toISOString();
  return `with the login of this machine, renewed at ${since}`;
}

/** The name and version of a server, from its answer. */
function nameIn(text: string): string {
  const message = tryJson(text);
  const result = isObject(message) ? message["result"] : undefined;
  const meta = isObject(result) ? result["_meta"] : undefined;
  const info = isObject(meta) ? meta[Meta.serverInfo] : undefined;
  if (!isObject(info) || typeof info["name"] !== "string") return "";
  const version = typeof info["version"] === "string" ? ` ${info["version"]}` : "";
  return ` It is ${info["name"]}${version}`.replaceAll(/\p{Cc}/gu, "");
}
