/** Requests for the metadata of sign-in, wherever clients guess that it is. */

import type { Trace } from "../trace/trace.ts";

const DOCUMENTS = /\/\.well-known\/(?:oauth-[a-z-]{1,40}|openid-configuration)(?:\/|$)/;

/** @param trace called for such a request alone. */
export function noteProbe({ url, method }: Request, { ok }: Response, trace: () => Trace): void {
  if (method !== "GET") return;
  const { pathname: path } = new URL(url);
  if (DOCUMENTS.test(path)) trace()({ kind: "probed", path, isFound: ok });
}
