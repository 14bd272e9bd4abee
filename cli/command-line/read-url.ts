/** The address of a gateway, as people write it and as hosts mangle it. */

import { isSafe } from "../http/safe-url.ts";

export type UrlReading =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "mistake"; readonly sentence: string };

/** Some hosts and shells pass the quotes of a configuration on. */
const AROUND = /^[\s"'`]+|[\s"'`]+$/g;

/** @param written an origin stands for its `/mcp`. */
export function readUrl(written: string): UrlReading {
  const text = written.replaceAll(AROUND, "");
  if (!URL.canParse(text)) {
    return mistake(
      `"${text}" is no address. Give the whole of it, like https://mcp.example.com/mcp`,
    );
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    return mistake("The address has a user or a password in it. Leave it out, and set EDGEWAY_KEY");
  }
  if (!isSafe(url)) {
    return mistake(
      `${url.href} is not https. Only a gateway on this machine may be reached by http`,
    );
  }
  url.hash = "";
  if (url.pathname === "/") url.pathname = "/mcp";
  return { kind: "url", url };
}

function mistake(sentence: string): UrlReading {
  return { kind: "mistake", sentence };
}
