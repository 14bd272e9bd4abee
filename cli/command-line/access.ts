/** What an address is to a person: an endpoint that asks for a login, one that does not, or none. */

import { mediaType } from "../../src/lib/media-type.ts";
import { failureOf } from "../http/failures.ts";
import { readBody } from "../http/gateway.ts";
import { problemOfAnswer } from "./diagnosis.ts";
import { timeOut } from "./explained.ts";

/** What an MCP endpoint without sign-in answers to a GET without a session. */
const USUAL: ReadonlySet<number> = new Set([400, 405, 406]);

interface Access {
  /** `undefined` where nobody has to sign in. */
  readonly challenge?: string;
  /** Why the address does not serve as an endpoint does. */
  readonly problem?: string | undefined;
}

/** @throws NotReached or Broken. */
export async function accessOf(url: URL): Promise<Access> {
  const headers = { accept: "text/event-stream" };
  const signal = timeOut();
  const response = await fetch(url, { headers, signal, redirect: "manual" }).catch((error) => {
    signal.throwIfAborted();
    throw failureOf(error);
  });
  const { status } = response;
  const isPage = mediaType(response.headers.get("content-type")) === "text/html";
  const isUsual = USUAL.has(status) || (response.ok && !isPage);
  if (status !== 401 && !isUsual) {
    return { problem: problemOfAnswer(url, await answerIn(response)) };
  }
  await response.body?.cancel();
  return status === 401 ? { challenge: response.headers.get("www-authenticate") ?? "" } : {};
}

/** What a diagnosis is made of. */
export async function answerIn(response: Response): Promise<Parameters<typeof problemOfAnswer>[1]> {
  const { status, headers } = response;
  return {
    status,
    type: mediaType(headers.get("content-type")),
    text: await readBody(response),
    location: headers.get("location") ?? undefined,
    retryAfter: headers.get("retry-after") ?? undefined,
  };
}
