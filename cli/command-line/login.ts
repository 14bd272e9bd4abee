/** `edgeway login` and `edgeway logout`: for people, in a terminal. */

import { createInterface } from "node:readline";

import { reasonOf } from "../http/failures.ts";
import { isSomebodyThere } from "../login/browser-command.ts";
import { openBrowser } from "../login/browser.ts";
import type { CodeListener } from "../login/code-listener.ts";
import { signIn } from "../login/sign-in.ts";
import { revokeToken } from "../login/token-requests.ts";
import type { Login, LoginFile } from "../tokens/login-file.ts";
import { accessOf } from "./access.ts";
import { loginFile } from "./credentials.ts";
import { explained } from "./explained.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";

/** Who has waited for so long waits for another process, in milliseconds. */
const WAITING_MS = 1000;

/** Signs in, in place of an earlier login. @returns the exit code. */
export function login(url: URL, environment: Environment): Promise<number> {
  return explained(url, async () => {
    const { challenge, problem } = await accessOf(url);
    if (problem !== undefined) {
      notice(problem);
      return 1;
    }
    if (challenge === undefined) {
      notice(`${url.href} asks for no login`);
      return 0;
    }
    const file = loginFile(url, environment);
    const { signal } = new AbortController();
    const begunAt = Date.now();
    // The page of a process that is gone leads nowhere: its place is taken at once.
    const waiting = setTimeout(() => void tellOfPage(file), WAITING_MS);
    await file.signingIn(signal, async () => {
      clearTimeout(waiting);
      const { tokens, signedInAt = 0 } = await file.read();
      // That page was enough.
      if (tokens !== undefined && signedInAt >= begunAt) return;
      const replaced = await signIn({
        url,
        file,
        challenge,
        show: (...shown) => show(environment, ...shown),
        signal,
      });
      await end(replaced, signal).catch(() => undefined);
    });
    notice(`signed in at ${url.href}`);
    return 0;
  });
}

async function tellOfPage(file: LoginFile): Promise<void> {
  const { page } = await file.read();
  if (page !== undefined) notice(`another process waits for somebody to open ${page}`);
}

/** Ends the login here and at the gateway. @returns the exit code. */
export function logout(url: URL, environment: Environment): Promise<number> {
  return explained(url, async () => {
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
    // A gateway that is away may take a while.
    notice(`the login is forgotten here; telling ${url.origin}`);
    try {
      await end(before, signal);
    } catch (error) {
      notice(`the gateway could not be told (${reasonOf(error)})`);
      notice(`disconnect this machine at ${url.origin}/account`);
      return 1;
    }
    notice(`signed out at ${url.href}`);
    return 0;
  });
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
