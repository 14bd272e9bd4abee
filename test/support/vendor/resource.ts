/** `S`, the MCP server of a vendor: its metadata, what it demands of a token, and a world for each account. */

import type { ServerResponse } from "node:http";

import type { Json, Script } from "../scripted-upstream-script.ts";
import { serveScript } from "../scripted-upstream-serve.ts";
import { World } from "../scripted-upstream-world.ts";
import { type Answer, type Desk, type Received, replacementOf, send } from "./answering.ts";
import type { Authority } from "./authority.ts";
import type { Hit, VendorUser } from "./script.ts";

export const MCP_PATH = "/mcp";
const WELL_KNOWN = "/.well-known/oauth-protected-resource";
/** Who has not said who they are. */
const ANYBODY = "anybody";

const SCHEMA = { type: "object" };

interface Admitted {
  readonly account: VendorUser | "service" | typeof ANYBODY;
  readonly scopes: readonly string[] | undefined;
}

export class Resource {
  readonly origin: string;
  readonly #desk: Desk;
  readonly #authority: Authority;
  readonly #worlds = new Map<string, World>();

  constructor(origin: string, desk: Desk, authority: Authority) {
    this.origin = origin;
    this.#desk = desk;
    this.#authority = authority;
  }

  get url(): string {
    return this.origin + MCP_PATH;
  }

  /** Takes a new script; sessions and streams stay. */
  change(): void {
    for (const [account, world] of this.#worlds) world.restart(this.#scriptOf(account));
  }

  forgetSessions(): void {
    for (const world of this.#worlds.values()) world.sessions.clear();
  }

  tell(account: string, text: string): void {
    this.#worldOf(account).send(text);
  }

  async serve(received: Received, response: ServerResponse): Promise<void> {
    const { pathname } = received.url;
    const { resourceMetadataAt = [WELL_KNOWN + MCP_PATH] } = this.#desk.script;
    if (resourceMetadataAt.includes(pathname)) {
      const hit = this.#desk.note("resource-metadata", received);
      await this.#desk.meet(hit, response, () => ({ status: 200, json: this.#metadata() }));
    } else if (pathname.startsWith(MCP_PATH)) {
      await this.#serveMcp(received, response);
    } else {
      const isAsked = pathname.startsWith(WELL_KNOWN);
      const hit = this.#desk.note(isAsked ? "resource-metadata" : "elsewhere", received);
      await this.#desk.meet(hit, response, () => ({ status: 404, text: "There is nothing here" }));
    }
  }

  /** RFC 9728 section 2. */
  #metadata(): Json {
    return {
      resource: this.url,
      authorization_servers: [this.#authority.issuer],
      bearer_methods_supported: ["header"],
    };
  }

  async #serveMcp(received: Received, response: ServerResponse): Promise<void> {
    const hit = this.#desk.note("server", received);
    response.once("finish", () => {
      hit.status = response.statusCode;
    });
    const reaction = this.#desk.nextReaction(hit);
    if (reaction !== undefined) {
      if (!(await this.#desk.hold(reaction, response))) return;
      if (reaction.status !== undefined || reaction.body !== undefined) {
        send(hit, response, replacementOf(this.#desk.fill(reaction)));
        return;
      }
    }
    const admitted = this.#admit(hit);
    if (!("account" in admitted)) {
      send(hit, response, admitted);
      return;
    }
    const { request, sent, url } = received;
    const path = url.pathname.slice(MCP_PATH.length).replace(/^\//, "");
    await serveScript(this.#worldOf(admitted.account), path, { request, sent }, response);
  }

  #admit(hit: Hit): Admitted | Answer {
    const { method: rpc = hit.method } = (hit.body ?? {}) as { readonly method?: string };
    const { open = [], demands = {} } = this.#desk.script;
    const admitted = this.#holder(hit);
    if (admitted === undefined) {
      return open.includes(rpc) ? { account: ANYBODY, scopes: undefined } : this.#unauthorized();
    }
    const tool = (hit.body?.["params"] as Json | undefined)?.["name"];
    const wanted = demands[`${rpc} ${String(tool)}`] ?? demands[rpc] ?? [];
    const hasAll = wanted.every((scope) => admitted.scopes?.includes(scope) ?? true);
    return hasAll ? admitted : this.#lacking(wanted);
  }

  /** Whose key or token it is, if it is worth something here. */
  #holder({ headers }: Hit): Admitted | undefined {
    const { keys, keyHeader = "authorization", checksAudience = true } = this.#desk.script;
    if (keys !== undefined) {
      const account = keys[headers[keyHeader.toLowerCase()] ?? ""];
      return account === undefined ? undefined : { account, scopes: undefined };
    }
    const [, value = ""] = /^Bearer (\S+)$/.exec(headers["authorization"] ?? "") ?? [];
    const token = this.#authority.grants.live(value);
    if (token === undefined) return undefined;
    if (checksAudience && token.resource !== this.#desk.fill("{{resource}}")) return undefined;
    return { account: token.user ?? "service", scopes: token.scopes };
  }

  #unauthorized(): Answer {
    const { challenges = ['Bearer resource_metadata="{{metadata}}"'] } = this.#desk.script;
    return refusal(401, this.#desk.fill(challenges));
  }

  /** RFC 6750 section 3.1. */
  #lacking(wanted: readonly string[]): Answer {
    const usual =
      'Bearer error="insufficient_scope", scope="{{scope}}", resource_metadata="{{metadata}}"';
    const { scopeChallenges = [usual] } = this.#desk.script;
    const named = scopeChallenges.map((text) => text.replaceAll("{{scope}}", wanted.join(" ")));
    return refusal(403, this.#desk.fill(named));
  }

  #worldOf(account: string): World {
    const world = this.#worlds.get(account) ?? new World(account, this.#scriptOf(account));
    this.#worlds.set(account, world);
    return world;
  }

  /** What an account sees: the tools name it, so that a list of another's is seen at once. */
  #scriptOf(account: string): Script {
    const tools = ["whoami", `only_${account}`].map((name) => ({ name, inputSchema: SCHEMA }));
    return { server: "dual", tools, endpoint: MCP_PATH, account, ...this.#desk.script.mcp };
  }
}

/** RFC 9728 section 7.2: where metadata is, beside the path of an MCP server. */
export function metadataUrl(origin: string): string {
  return `${origin}${WELL_KNOWN}${MCP_PATH}`;
}

function refusal(status: number, challenges: readonly string[]): Answer {
  return { status, headers: { "WWW-Authenticate": challenges }, text: "" };
}
