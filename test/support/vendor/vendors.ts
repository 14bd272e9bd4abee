/**
 * Makes vendors, in Node: each has two servers on ports of its own, `S` and `A`, that do what its script says. Tests
 * speak to them by `Vendor`.
 */

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { Desk, type Received, receive } from "./answering.ts";
import { Authority, issuerAt } from "./authority.ts";
import { metadataUrl, MCP_PATH, Resource } from "./resource.ts";
import type { Command, VendorPlace, VendorScript, VendorState } from "./script.ts";

export interface Vendors {
  /** What `Vendor.take` is given. */
  readonly origin: string;
  stop(): Promise<void>;
}

interface Made {
  readonly desk: Desk;
  readonly resource: Resource;
  readonly authority: Authority;
}

interface Taking {
  readonly script: VendorScript;
  readonly behind?: string;
}

export async function startVendors(): Promise<Vendors> {
  const vendors = new Map<string, Made>();
  const servers: Server[] = [];

  async function open(serve: Parameters<typeof listener>[0]): Promise<string> {
    const server = createServer(listener(serve));
    // Streams stay open in silence.
    server.requestTimeout = 0;
    // Whoever sends on a connection just as it is closed for its idleness has lost the request.
    server.keepAliveTimeout = 0;
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://localhost:${(server.address() as AddressInfo).port}`;
  }

  async function take({ script, behind }: Taking): Promise<VendorPlace> {
    const id = String(vendors.size);
    const made: { resource?: Resource; authority?: Authority } = {};
    const origin = await open((received, response) => made.resource?.serve(received, response));
    const shared = behind === undefined ? undefined : found(behind).authority;
    const own =
      shared?.origin ??
      (await open((received, response) => made.authority?.serve(received, response)));
    const issuer = shared?.issuer ?? issuerAt(own, { script });
    const resource = origin + MCP_PATH;
    const names = { issuer, resource, server: origin, metadata: metadataUrl(origin) };
    const desk = new Desk(script, names);
    const authority = shared ?? new Authority(own, desk);
    Object.assign(made, { authority, resource: new Resource(origin, desk, authority) });
    vendors.set(id, { desk, ...made } as Made);
    return { id, url: resource, resource, issuer };
  }

  function found(id: string): Made {
    const vendor = vendors.get(id);
    if (vendor === undefined) throw new Error(`There is no vendor "${id}"`);
    return vendor;
  }

  const control = createServer((request, response) => {
    const [id = "", verb] = (request.url ?? "/").slice(1).split("/");
    text(request)
      .then(async (body): Promise<unknown> => {
        if (id === "take") return take(JSON.parse(body) as Taking);
        return verb === "state" ? stateOf(found(id)) : obey(found(id), JSON.parse(body) as Command);
      })
      .then((answer) => {
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(answer ?? null));
      })
      .catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  servers.push(control);
  await new Promise<void>((resolve) => control.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    async stop() {
      await Promise.all(
        servers.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => server.close(resolve));
        }),
      );
    },
  };
}

type Serve = (
  received: Received,
  response: Parameters<RequestListener>[1],
) => Promise<void> | undefined;

function listener(serve: Serve): RequestListener {
  return (request, response) => {
    receive(request, "http://vendor")
      .then((received) => serve(received, response))
      .catch(() => response.destroy());
  };
}

function stateOf({ desk, authority: { grants } }: Made): VendorState {
  return {
    hits: desk.hits,
    tokens: grants.tokens(),
    families: grants.families,
    clients: [...grants.clients.values()],
  };
}

function obey({ desk, resource, authority: { grants } }: Made, command: Command): void {
  switch (command.kind) {
    case "expire":
      return grants.expire(command.user);
    case "withdraw":
      return grants.withdraw(command.user);
    case "forget-clients":
      return grants.clients.clear();
    case "open":
      return desk.open(command.gate);
    case "change":
      desk.change(command.script);
      return resource.change();
    case "forget-sessions":
      return resource.forgetSessions();
    case "tell":
      return resource.tell(command.user, command.text);
  }
}
