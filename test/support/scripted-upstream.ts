/**
 * Upstreams that do what a test says. One server in Node plays them all, each under `/u/<slug>`;
 * tests speak to it under `/control`.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { Kind, Recorded, Script } from "./scripted-upstream-script.ts";
import { serveScript } from "./scripted-upstream-serve.ts";
import { World } from "./scripted-upstream-world.ts";

export interface ScriptedUpstreams {
  readonly origin: string;
  slugs(kind: Kind): readonly string[];
  /** Adds one under a name of its own, which all tests share. */
  put(slug: string, script: Script): void;
  stop(): Promise<void>;
}

/** @param counts how many there are for tests to take, of each kind. */
export async function startScriptedUpstreams(
  counts: Readonly<Partial<Record<Kind, number>>> = {},
): Promise<ScriptedUpstreams> {
  const worlds = new Map<string, World>();
  const taken = new Map<string, number>();
  /** Those that were asked for though no test had taken them. */
  const asked = new Set<string>();
  const slugs = (kind: Kind): string[] =>
    Array.from({ length: counts[kind] ?? 0 }, (_, index) => `${kind}-${index}`);

  /** Each test gets an upstream that no other test has seen. */
  function take(kind: Kind): string {
    const index = taken.get(kind) ?? 0;
    taken.set(kind, index + 1);
    const count = counts[kind] ?? 0;
    if (index >= count) throw new Error(`All ${count} slugs "${kind}" are taken`);
    const slug = `${kind}-${index}`;
    // The gateway would remember what it was answered then.
    if (asked.has(slug)) throw new Error(`An earlier test goes on: it has asked for "${slug}"`);
    return slug;
  }

  async function control(
    [slug = "", verb = "", argument = ""]: readonly string[],
    request: IncomingMessage,
  ): Promise<unknown> {
    const body = await text(request);
    if (slug === "take") {
      const taken = take(verb as Kind);
      worlds.set(taken, new World(taken, JSON.parse(body) as Script));
      return taken;
    }
    const world = worlds.get(slug);
    if (world === undefined) throw new Error(`No upstream "${slug}" was taken`);
    switch (verb) {
      case "log":
        return world.log satisfies readonly Recorded[];
      case "open":
        return world.openGate(argument);
      case "send":
        return world.send(body);
      case "tell":
        return world.tell(body);
      case "hang-up":
        return world.hangUp();
      case "forget":
        return world.sessions.clear();
      case "script":
        return world.restart(JSON.parse(body) as Script);
      default:
        throw new Error(`Unknown command "${verb}"`);
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [root, ...rest] = new URL(request.url ?? "/", "http://x").pathname.slice(1).split("/");
    if (root === "control") {
      const answer = await control(rest, request).catch((error: unknown) => ({
        problem: String(error),
      }));
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer ?? null));
      return;
    }
    const slug = root === "u" ? (rest[0] ?? "") : "";
    const world = worlds.get(slug);
    if (world === undefined) {
      asked.add(slug);
      response.writeHead(404).end("no such upstream");
    } else {
      const received = { request, sent: await text(request) };
      await serveScript(world, rest.slice(1).join("/"), received, response);
    }
  }

  const server = createServer((request, response) => {
    route(request, response).catch(() => response.destroy());
  });
  // Streams stay open in silence.
  server.requestTimeout = 0;
  // workerd may send a request on an idle connection that is closed at that moment: the call would be lost.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    slugs,
    put: (slug, script) => void worlds.set(slug, new World(slug, script)),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
