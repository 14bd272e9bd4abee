/** Records requests for the sign-in metadata, wherever clients look for it. */

import type { Trace } from "../trace/trace.ts";

const DOCUMENTS = /\/\.well-known\/(?:oauth-[a-z-]{1,40}|openid-configuration)(?:\/|$)/;

/** @param trace called only for such a request. */
export function noteProbe({ url, method }: Request, { ok }: Response, trace: () => Trace): void {
  if (method !== "GET") return;
  const { pathname: path } = new URL(url);
  if (DOCUMENTS.test(path)) trace()({ kind: "probed", path, isFound: ok });
}
