/** The validity of a token at this moment. */

import { until } from "../integration/bounded.ts";
import { initializeMessage, post } from "../integration/client.ts";
import { ORIGIN } from "./gateway.ts";
import { as, type Connection, type Person } from "./people.ts";

export async function statusWith(token: string, path = "/mcp/alpha"): Promise<number> {
  const response = await post(ORIGIN + path, initializeMessage(), as(token));
  await response.text();
  return response.status;
}

/** Within the seconds for which the gateway believes what it knew of a token. */
export async function isRefused(token: string): Promise<void> {
  await until(async () => ((await statusWith(token)) === 401 ? true : undefined), "401");
}

export async function statusOfRefresh(
  { client, tokens }: Connection,
  person: Person,
): Promise<number> {
  const parameters = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
  return (await person.askForToken({ ...parameters, client_id: client })).status;
}
