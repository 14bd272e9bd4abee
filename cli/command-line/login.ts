/** `edgeway login`, `edgeway logout`, `edgeway status`: for people, in a terminal. */

import { createInterface } from "node:readline";

import { Broken, LoginNeeded, NotReached } from "../http/failures.ts";
import { Gateway } from "../http/gateway.ts";
import { isSomebodyThere } from "../login/browser-command.ts";
import { openBrowser } from "../login/browser.ts";
import type { CodeListener } from "../login/code-listener.ts";
import { LoginError } from "../login/login-error.ts";
import { signIn } from "../login/sign-in.ts";
import { revokeToken } from "../login/token-requests.ts";
import type { Login, LoginFile } from "../tokens/login-file.ts";
import { credentialsOf, keyOf, loginFile } from "./credentials.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";

const TIMEOUT_MS = 15_000;
const DISCOVER = {
  jsonrpc: "2.0",
  id: "status",
  method: "server/discover",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
} as const;
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": DISCOVER.method,
} as const;

/** Signs in, in place of an earlier login. @returns the exit code. */
export function login(url: URL, environment: Environment): Promise<number> {
  return explained(async () => {
    const challenge = await challengeOf(url);
    if (challenge === undefined) {
      notice(`${url.href} asks for no login`);
      return 0;
    }
    const file = loginFile(url, environment);
    const { signal } = new AbortController();
    const begunAt = Date.now();
    const { page } = await file.read();
    if (page !== undefined) notice(`another process waits for somebody to open ${page}`);
    await file.locked(signal, async () => {
      const before = await file.read();
      // That page was enough.
      if (before.tokens !== undefined && before.tokens.obtainedAt >= begunAt) return;
      await signIn({
        url,
        file,
        challenge,
        show: (...shown) => show(environment, ...shown),
        signal,
      });
      await end(before, signal).catch(() => undefined);
    });
    notice(`signed in at ${url.href}`);
    return 0;
  });
}

/** Ends the login here and at the gateway. @returns the exit code. */
export function logout(url: URL, environment: Environment): Promise<number> {
  return explained(async () => {
    const file = loginFile(url, environment);
    const { signal } = new AbortController();
    const before = await file.locked(signal, async () => {
      const login = await file.read();
      await forget(file);
      return login;
    });
    if (before.tokens === undefined) {
      notice(`nobody was signed in at ${url.href}`);
      return 0;
    }
    try {
      await end(before, signal);
    } catch (error) {
      notice(`the login is forgotten here, but the gateway could not be told (${String(error)})`);
      notice(`disconnect this machine at ${url.origin}/account`);
      return 1;
    }
    notice(`signed out at ${url.href}`);
    return 0;
  });
}

/** Says whether `connect` would work, and what to do if it would not. @returns the exit code. */
export function status(url: URL, environment: Environment): Promise<number> {
  return explained(async () => {
    const gateway = new Gateway(url, credentialsOf(url, environment), () => undefined);
    const request = { method: "POST", headers: HEADERS, body: JSON.stringify(DISCOVER) } as const;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await gateway.send({ ...request, signal }, { deadline: 0 });
    await response.body?.cancel();
    if (!response.ok) {
      notice(`${url.href} answers with status ${response.status}`);
      return 1;
    }
    process.stdout.write(`${url.href} can be reached, ${await whoOf(url, environment)}.\n`);
    return 0;
  });
}

async function whoOf(url: URL, environment: Environment): Promise<string> {
  if (keyOf(environment) !== undefined) return "with the API key in EDGEWAY_KEY";
  const { tokens } = await loginFile(url, environment).read();
  if (tokens === undefined) return "without a login";
  const since = new Date(tokens.obtainedAt).toISOString();
  return `with the login of this machine, renewed at ${since}`;
}

/** @returns the challenge; `undefined` where nobody has to sign in. */
async function challengeOf(url: URL): Promise<string | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { accept: "text/event-stream" };
  const response = await fetch(url, { headers, signal, redirect: "manual" }).catch((error) => {
    throw new NotReached(`${url.href} cannot be reached (${String(error)})`);
  });
  await response.body?.cancel();
  return response.status === 401 ? (response.headers.get("www-authenticate") ?? "") : undefined;
}

/** The page may be opened on another machine: the address that its browser ends at can be pasted. */
function show(environment: Environment, page: string, listener: CodeListener): void {
  const opens = isSomebodyThere(process.platform, environment);
  process.stderr.write(`Sign in on this page:\n\n  ${page}\n\n`);
  process.stderr.write(
    "If your browser is on another machine, paste the address that it ends at here.\n",
  );
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    if (line.trim() !== "" && !listener.take(line.trim())) notice("that is not the address");
  });
  listener.code.finally(() => lines.close()).catch(() => undefined);
  if (opens) openBrowser(page);
}

function forget(file: LoginFile): Promise<Login> {
  return file.change({ tokens: undefined });
}

async function end({ endpoints, tokens, clientId }: Login, signal: AbortSignal): Promise<void> {
  const token = tokens?.refresh ?? tokens?.access;
  if (endpoints === undefined || clientId === undefined || token === undefined) return;
  await revokeToken(endpoints, token, clientId, signal);
}

/** Failures that a person can do something about are one sentence. */
async function explained(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isExpected =
      error instanceof LoginNeeded ||
      error instanceof LoginError ||
      error instanceof NotReached ||
      error instanceof Broken;
    if (!isExpected) throw error;
    notice(error.message);
    return 1;
  }
}
