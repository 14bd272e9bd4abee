/** What is wrong with an address that does not serve as a gateway does, and what a person can do about it. */

import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { BAD_CERTIFICATE } from "../http/failures.ts";

/** The answer to `server/discover`. */
export interface Answer {
  readonly status: number;
  /** The media type; may be empty. */
  readonly type: string;
  readonly text: string;
  /** The headers `Location` and `Retry-After`. */
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
}

const MAX_SAID = 200;
/** Of an address that is another service's. */
export const RIGHT_ADDRESS = "Is it the MCP server URL that the gateway’s first page shows?";
const OPERATOR = "Its operator finds the reason in the log of the gateway";

/** @returns the problem; `undefined` for the result of an MCP server. */
export function problemOfAnswer(url: URL, answer: Answer): string | undefined {
  const { status, type, text, location, retryAfter } = answer;
  const value = type === "application/json" ? tryJson(text) : undefined;
  const message = isObject(value) && value["jsonrpc"] === "2.0" ? value : undefined;
  if (status === 200 && isObject(message?.["result"])) return undefined;
  const error = message?.["error"];
  const said = isObject(error)
    ? `: ${short(String(error["message"]))}`
    : type === "text/plain" && text.trim() !== ""
      ? `: ${short(text)}`
      : "";
  if (status >= 300 && status < 400) {
    return `${url.href} leads to ${placeOf(url, location)}. If that is a login in front of the gateway, it has to let programs through; if the gateway has moved, give its new address`;
  }
  if (status === 403) {
    return `${url.href} refuses this machine (status 403${said}). A proxy or firewall in front of the gateway may do that, or the gateway is not served under this name`;
  }
  if (status === 404) {
    const usual = `${url.origin}/mcp`;
    const hint =
      url.href === usual
        ? "Is it the address of a gateway?"
        : `That of a gateway is ${usual}, or ${usual}/<server> for one server`;
    return `There is no endpoint at ${url.href} (status 404${said}). ${hint}`;
  }
  if (status === 429) {
    const pause = /^\d+$/.test(retryAfter ?? "") ? `in ${retryAfter} seconds` : "in a minute";
    return `${url.href} has had too many requests (status 429). Try again ${pause}`;
  }
  if (status >= 500) return `${url.href} failed (status ${status}${said}). ${OPERATOR}`;
  if (message !== undefined) {
    return `${url.href} is an MCP server, but it answers with an error (status ${status}${said}). connect may work all the same, if it is no Edgeway gateway`;
  }
  return `${url.href} answers, but not as a gateway does (status ${status}, ${type || "no type"}). ${RIGHT_ADDRESS}`;
}

/** @param reason of a request that had no answer: a code, or a sentence of ours, which is returned. */
export function problemOfFailure(url: URL, reason: string): string {
  const known = failures(url).find(([pattern]) => pattern.test(reason))?.[1];
  return known === undefined ? reason : `${known} (${short(reason)})`;
}

/** By codes of Node and of its fetch. */
function failures({ href, host, hostname }: URL): readonly (readonly [RegExp, string])[] {
  return [
    [/^ECONNREFUSED$/, `Nothing listens at ${host}. Does the gateway run, and is that its port?`],
    [
      /^(?:ENOTFOUND|EAI_AGAIN)$/,
      `The name ${hostname} is not known. Is it written right, and is this machine online?`,
    ],
    [
      /^(?:EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/,
      `${host} cannot be reached. Is this machine online, and in the right network?`,
    ],
    [
      /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
      `${host} does not speak https. A gateway on this machine is reached by http://${host}`,
    ],
    [
      BAD_CERTIFICATE,
      `The certificate of ${host} is not trusted here. If it is signed by an authority of your own, set NODE_EXTRA_CA_CERTS to its file`,
    ],
    [
      /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
      `${host} closes the connection without an answer. Is it a gateway, and is it http that it speaks?`,
    ],
    [
      /^status (?:502|504|52\d|530)$/,
      `A proxy at ${host} does not reach the gateway behind it. Its operator has to look`,
    ],
    [/^status 503/, `${href} cannot serve now. ${OPERATOR}`],
  ];
}

export function silence({ host }: URL, seconds: number): string {
  return `${host} takes the connection, but has not answered within ${seconds} seconds. Is it a gateway?`;
}

function placeOf(url: URL, location = ""): string {
  const isPlace = location !== "" && URL.canParse(location, url.href);
  return isPlace ? new URL(location, url.href).origin : "another address";
}

/** Text from elsewhere, on one line. */
function short(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID)}…` : line;
}
