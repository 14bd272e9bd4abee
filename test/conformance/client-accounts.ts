/**
 * What a person does in the scenarios of the official suite for clients whose server demands a login: the person
 * calls a tool, reads where to connect an account, does so, and calls again.
 */

import type { Client, Json } from "../support/clients-face.ts";
import type { Browser, Page } from "../support/oauth-browser.ts";
import { MODERN_REVISION } from "../support/revisions.ts";
import type { Scenario } from "./client-suite.ts";

/** More than any scenario takes. */
const ROUNDS = 8;
/** The suite's authorization servers know the gateway by it; nobody fetches it. */
const CLIENT_METADATA = "https://conformance-test.local/client-metadata.json";

/** What the gateway is configured with for the server that the suite plays. */
export async function serverOf({ name, revision, url, context }: Scenario): Promise<Json> {
  const { client_id, client_secret, private_key_pem } = context;
  const own = client_id !== undefined && {
    clientId: client_id,
    issuer: await issuerFor(url),
    ...(client_secret !== undefined && { clientSecret: client_secret }),
    ...(private_key_pem !== undefined && { privateKey: private_key_pem }),
  };
  const isOfGateway = name.startsWith("auth/client-credentials-");
  const document = own === false && { clientMetadataUrl: CLIENT_METADATA };
  return {
    url,
    era: revision === MODERN_REVISION ? "modern" : "legacy",
    auth: isOfGateway ? "client-credentials" : "oauth",
    oauth: { ...own, ...document, ...(name.includes("/2025-03-26-") && { legacy: true }) },
  };
}

/** An operator with a client of their own knows its authorization server. */
async function issuerFor(url: string): Promise<string | undefined> {
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: issuers } = (await response.json()) as Json;
  return (issuers as string[])[0];
}

/** @returns what kept the person from the server's tool, if anything did. */
export async function useAccount(client: Client, browser: Browser): Promise<string | undefined> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { tools } = await client.request("tools/list");
    const [{ name } = { name: "" }] = tools as { readonly name: string }[];
    const result = await client.request("tools/call", { name, arguments: {} });
    const text = JSON.stringify(result["content"]);
    const [link] = /https?:\/\/[^\s"\\]+\/connect\/[^\s"\\]+/.exec(text) ?? [];
    if (link === undefined) return result["isError"] === true ? `${name}: ${text}` : undefined;
    const page = await connectAccount(browser, link);
    if (page.status !== 200) return page.text;
  }
  throw new Error("There is no end of links");
}

/** @returns the page at which it ends: one with the status 200 when the account is connected. */
async function connectAccount(browser: Browser, link: string): Promise<Page> {
  const asked = await browser.visit(link);
  if (asked.status !== 200) return asked;
  const away = await browser.submit(asked, { button: /^Continue to / });
  if (away.left === undefined) return away;
  // The suite's person approves at once.
  const approved = await fetch(away.left, { redirect: "manual" });
  return browser.visit(approved.headers.get("location") ?? "");
}
