/** How a vendor meets one request: as usual, unless a reaction says otherwise; and it is written down. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import type { Json } from "../scripted-upstream-script.ts";
import type { Hit, Patch, Place, VendorReaction, VendorScript } from "./script.ts";

/** What is to be sent: JSON, or the query of a redirect, so that a patch can change it. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: Json;
  readonly text?: string;
  readonly redirect?: { readonly to: string; readonly query: Patch };
  /** Sends `json` as a form. */
  readonly isForm?: boolean;
}

/** A request whose body has been read. */
export interface Received {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly sent: string;
  /** Of query and form together. */
  readonly parameters: URLSearchParams;
  readonly body: Json | undefined;
}

export async function receive(request: IncomingMessage, origin: string): Promise<Received> {
  const sent = await text(request);
  const url = new URL(request.url ?? "/", origin);
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  const parameters = new URLSearchParams([
    ...url.searchParams,
    ...(isForm === true ? new URLSearchParams(sent) : []),
  ]);
  return { request, url, sent, parameters, body: parse(sent) };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What a vendor remembers of its requests, and what its script still has for them. */
export class Desk {
  script: VendorScript;
  readonly hits: Hit[] = [];
  /** What `{{…}}` stands for in the texts of a script. */
  readonly #names: Readonly<Record<string, string>>;
  #reactions = new Map<string, VendorReaction[]>();
  #gates = new Map<string, PromiseWithResolvers<void>>();

  constructor(script: VendorScript, names: Readonly<Record<string, string>>) {
    this.script = {};
    this.#names = names;
    this.change(script);
  }

  change(script: VendorScript): void {
    const { reactions = {}, ...settings } = script;
    this.script = { ...this.script, ...settings };
    for (const [place, list] of Object.entries(reactions)) this.#reactions.set(place, [...list]);
  }

  open(gate: string): void {
    this.#gate(gate).resolve();
  }

  /** In texts and in what they are part of. */
  fill<T>(value: T): T {
    if (typeof value === "string") {
      return value.replaceAll(
        /\{\{(\w+)\}\}/g,
        (whole, name: string) => this.#names[name] ?? whole,
      ) as T;
    }
    if (Array.isArray(value)) return value.map((one) => this.fill(one)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.fill(one)]),
    ) as T;
  }

  /** Writes a request down. */
  note(place: Place, { request, url, parameters, body }: Received): Hit {
    const headers = Object.entries(request.headersDistinct).map(([name, values]) => [
      name,
      values?.join(", ") ?? "",
    ]);
    const hit: Hit = {
      place,
      method: request.method ?? "",
      path: url.pathname + url.search,
      headers: Object.fromEntries(headers),
      parameters: [...parameters],
      ...(body !== undefined && { body }),
      status: 0,
    };
    this.hits.push(hit);
    return hit;
  }

  /** @param act the usual effect of the request, and its answer. */
  async meet(
    hit: Hit,
    response: ServerResponse,
    act: () => Answer | Promise<Answer>,
  ): Promise<void> {
    const reaction = this.nextReaction(hit);
    const done = reaction === undefined || reaction.takesEffect === true ? await act() : undefined;
    if (reaction !== undefined && !(await this.hold(reaction, response))) return;
    const isReplaced = reaction?.status !== undefined || reaction?.body !== undefined;
    const answer = isReplaced ? replacementOf(this.fill(reaction)) : (done ?? (await act()));
    send(hit, response, patched(answer, this.fill(reaction?.patch ?? {})));
  }

  /** How the next request of a place is met, if the script says. */
  nextReaction({ place, body }: Hit): VendorReaction | undefined {
    const list = this.#reactions.get(place) ?? [];
    const at = list.findIndex(({ rpc }) => rpc === undefined || rpc === body?.["method"]);
    const reaction = list[at];
    if (reaction !== undefined && reaction.isLasting !== true) list.splice(at, 1);
    return reaction;
  }

  /** Opens and waits at gates, and drops the connection. @returns whether there is an answer still. */
  async hold(reaction: VendorReaction, response: ServerResponse): Promise<boolean> {
    if (reaction.opens !== undefined) this.open(reaction.opens);
    if (reaction.heldBy !== undefined) await this.#gate(reaction.heldBy).promise;
    if (reaction.end === "reset") response.destroy();
    return reaction.end === undefined && !response.destroyed;
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

export function replacementOf({ status = 200, headers = {}, body }: VendorReaction): Answer {
  if (typeof body === "string") return { status, headers, text: body };
  return body === undefined ? { status, headers } : { status, headers, json: body as Json };
}

function patched(answer: Answer, patch: Patch): Answer {
  const change = (members: Patch): Json =>
    Object.fromEntries(
      Object.entries({ ...members, ...patch }).filter(([, value]) => value !== null),
    );
  const { json, redirect } = answer;
  return {
    ...answer,
    ...(json !== undefined && !Array.isArray(json) && { json: change(json) }),
    ...(redirect !== undefined && { redirect: { ...redirect, query: change(redirect.query) } }),
  };
}

export function send(hit: Hit, response: ServerResponse, answer: Answer): void {
  hit.status = answer.status;
  const { json, redirect, isForm = false } = answer;
  const typed = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const headers = {
    ...(json !== undefined && { "Content-Type": typed, "Cache-Control": "no-store" }),
    ...(redirect !== undefined && { Location: locationOf(redirect) }),
    ...(answer.headers as Record<string, string>),
  };
  response.writeHead(answer.status, headers);
  if (json === undefined) response.end(answer.text ?? "");
  else response.end(isForm ? formOf(json) : JSON.stringify(json));
}

/** RFC 6749 section 3.1.2: the query of the redirect URI is kept. */
function locationOf({ to, query }: NonNullable<Answer["redirect"]>): string {
  return `${to}${to.includes("?") ? "&" : "?"}${formOf(query)}`;
}

function formOf(members: Patch): string {
  const pairs = Object.entries(members).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
  return new URLSearchParams(pairs).toString();
}
