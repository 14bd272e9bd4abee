/** The gateway with sign-in, as it is deployed: what tests of it have in common. */

import { exports } from "cloudflare:workers";

import { Browser } from "../support/oauth-browser.ts";
import type { Gateway } from "../support/oauth-requests.ts";

export const ORIGIN = "https://gw.example.com";

export const gateway: Gateway = {
  origin: ORIGIN,
  send: (url, sent) => exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
};

/** A new browser without cookies. */
export function newBrowser(): Browser {
  return new Browser(gateway.origin, gateway.send);
}
