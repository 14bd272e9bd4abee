/**
 * The front door of what people publish: `GET /publish`, where a person's machine connects, and the servers
 * that join the endpoints of that person.
 */

import { authenticate, type ResourceContext } from "../auth/resource/bearer.ts";
import type { Picked } from "../endpoint/endpoint.ts";
import { type Publishing, withPublished } from "../endpoint/published-endpoint.ts";
import type { Server } from "../endpoint/server.ts";
import type { CallSinks } from "../observability/call-record.ts";
import type { Limits } from "../policy/limits.ts";
import {
  PUBLISH_PROTOCOL,
  type PublishRefusal,
  readPublishProtocols,
} from "../protocol/publishing.ts";
import { PUBLISHING_OFF } from "../publishing/connector.ts";
import type { KnownServers } from "../publishing/known-servers.ts";
import { publishedName, type PublishedList, type Publishers } from "../publishing/publisher.ts";
import type { FrontDoorContext } from "./front-door.ts";
import { limitRate } from "./rate-limit.ts";

/** The port that the composition root implements. */
export interface PublishingBacking {
  readonly publishers: Publishers;
  readonly known: KnownServers;
  /** The time after which every isolate serves a change of what a person publishes, in milliseconds. */
  readonly settleMs: number;
  readonly serverOf: (person: string, name: string) => Server;
  /** Connects a person's machine. @param tags the grant or key, and its user. */
  readonly connect: (person: string, tags: readonly string[]) => Promise<Response>;
}

interface PublishedFor {
  readonly publishing: PublishingBacking | undefined;
  readonly person: string;
  /** Of those who publish nothing, nobody is asked anything. */
  readonly publishes: boolean;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** @param configured what the configuration has for the path. */
export async function publishedAt(
  configured: Picked,
  slug: string | undefined,
  { publishing, person, publishes, waitUntil }: PublishedFor,
): Promise<Pick<FrontDoorContext, "publisher" | "published"> & { readonly picked: Picked }> {
  if (publishing === undefined) return { picked: configured };
  const changed = (): void => publishing.known.forget(person);
  const own = await publishedBy({ publishing, person, publishes, waitUntil }, slug);
  // The endpoint of one server neither gets nor loses any.
  const { list } = own ?? {};
  const settledAt = (list?.changedAt ?? 0) + publishing.settleMs;
  const version = (): number | undefined => list?.version;
  const publisher = slug === undefined ? { person, changed, version, settledAt } : undefined;
  if (own === undefined) return { picked: configured, publisher };
  return { picked: withPublished(configured, slug, own), publisher, published: own.list };
}

/**
 * @param slug that is asked for, if only one is.
 * @returns `undefined` for somebody who publishes nothing: nobody is asked.
 */
export async function publishedBy(
  { publishing, person, publishes, waitUntil }: PublishedFor,
  slug: string | undefined,
): Promise<(Publishing & { readonly list: PublishedList }) | undefined> {
  if (publishing === undefined || !publishes) return undefined;
  const { known, serverOf } = publishing;
  const name = slug === undefined ? undefined : publishedName(slug);
  const list = await known.of(person, name, waitUntil);
  return { person, serverOf, list, names: list.servers.map(({ name }) => name) };
}

export interface PublishContext {
  readonly request: Request;
  /** `undefined` while publishing is off. */
  readonly publishing: PublishingBacking | undefined;
  /** `undefined` without sign-in. */
  readonly auth: ResourceContext | undefined;
  /** The person without sign-in. */
  readonly local: string;
  readonly limits: Limits;
  readonly sinks: CallSinks;
}

/** The endpoint whose tokens a machine connects with. */
const WHOLE = "/mcp";

export async function servePublish(context: PublishContext): Promise<Response> {
  const { request, publishing, auth, local, limits, sinks } = context;
  const { headers } = request;
  if (publishing === undefined) return refuse(403, "publishing_off", PUBLISHING_OFF);
  // The command sends none, and a page of a browser has no business here.
  if (headers.has("origin")) return refuse(403, "forbidden", "Web pages cannot publish servers.");
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refuse(426, "upgrade_required", "This address takes WebSockets of edgeway publish.");
  }
  const offered = readPublishProtocols(headers.get("sec-websocket-protocol"));
  if (!offered.isOffered) {
    const message = `This gateway speaks ${PUBLISH_PROTOCOL}; the command is of another version.`;
    return refuse(426, "upgrade_required", message);
  }
  const authentication =
    auth && (await authenticate(auth, asBearer(request, offered.token), WHOLE));
  if (authentication?.kind === "refused") return refusedAsHere(authentication.response);
  const bearer = authentication?.caller.bearer;
  const person = bearer?.user ?? local;
  const principal = authentication?.caller.principal ?? local;
  const sender = { person, principal, application: bearer?.client };
  if (limitRate(request, sender, limits, sinks) !== undefined) {
    return refuse(429, "too_many_requests", "Too many requests; wait a minute.");
  }
  try {
    const tags = bearer === undefined ? [] : [...new Set([bearer.lease, bearer.user])];
    return await publishing.connect(person, tags);
  } catch {
    return refuse(503, "unavailable", "The gateway cannot take this now; try again in a moment.");
  }
}

/** A client that can set no headers brings its token as a subprotocol. */
function asBearer(request: Request, token: string | undefined): Request {
  if (token === undefined || request.headers.has("authorization")) return request;
  const { url } = request;
  return new Request(url, { headers: { Authorization: `Bearer ${token}` } });
}

/** The challenge is that of every endpoint; the body is one for the command. */
async function refusedAsHere(response: Response): Promise<Response> {
  const { status, headers } = response;
  const { error_description: said } = await response.json<{ error_description: string }>();
  const error = status === 503 ? "unavailable" : status === 403 ? "forbidden" : "unauthorized";
  return refuse(status, error, `${said}.`, headers);
}

function refuse(
  status: number,
  error: PublishRefusal["error"],
  message: string,
  given: HeadersInit = {},
): Response {
  const body: PublishRefusal = { error, message };
  const headers = new Headers(given);
  headers.set("Cache-Control", "no-store");
  headers.delete("Content-Length");
  return Response.json(body, { status, headers });
}
