/** Where the browser comes back to: a free port of this machine (RFC 8252 section 7.3). */

import type { AddressInfo } from "node:net";

import { LoginError } from "./login-error.ts";

export interface CodeListener {
  readonly redirectUri: string;
  /** The code, once the browser has brought it. */
  readonly code: Promise<string>;
  /** Takes the address that the browser ended at, in place of a request. @returns whether it fits. */
  take(address: string): boolean;
  close(): void;
}

const PAGE = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Edgeway</title><p>${text}</p>`;
const SIGNED_IN = PAGE("You are signed in. You can close this page.");
const NOT_SIGNED_IN = PAGE("You are not signed in. The program that opened this page says why.");

/** @param issuer that has to be named in the answer (RFC 9207), if the server does that. */
export async function listenForCode(
  state: string,
  issuer: string | undefined,
): Promise<CodeListener> {
  let settle: ((outcome: string | LoginError) => void) | undefined;
  const code = new Promise<string>((resolve, reject) => {
    settle = (outcome) => (typeof outcome === "string" ? resolve(outcome) : reject(outcome));
  });
  code.catch(() => undefined); // it may be given up
  const take = (params: URLSearchParams): "code" | "error" | undefined => {
    // Anybody can have a browser ask here: what we did not begin means nothing.
    if (params.get("state") !== state) return undefined;
    if (issuer !== undefined && params.get("iss") !== issuer) return undefined;
    const [given, error] = [params.get("code"), params.get("error")];
    const refusal = `The login was refused: ${error ?? "no code came"}`;
    settle?.(given ?? new LoginError(refusal, error ?? undefined));
    return given === null ? "error" : "code";
  };
  // Few starts need it, and it would be a third of each (`npm run measure`).
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    // Anything of this machine may ask here, for what is no address at all, like `//`.
    const [, query] = /^\/callback\?(.*)$/.exec(request.url ?? "") ?? [];
    const taken = query === undefined ? undefined : take(new URLSearchParams(query));
    const headers = {
      "content-type": "text/html",
      "cache-control": "no-store",
      connection: "close",
    };
    response.writeHead(taken === undefined ? 404 : 200, headers);
    response.end(taken === "code" ? SIGNED_IN : NOT_SIGNED_IN);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed).listen(0, "127.0.0.1", listening);
  });
  const { port } = server.address() as AddressInfo;
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    code,
    take: (address) => URL.canParse(address) && take(new URL(address).searchParams) !== undefined,
    close: () => void server.close(),
  };
}
