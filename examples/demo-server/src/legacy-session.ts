// The revisions before 2026 are a conversation: one server object stays with one client, which
// is what lets it ask questions back and send news on a GET stream. That object lives in memory
// here. When the platform evicts an idle session it is gone, and the client must start over.

import { DurableObject } from "cloudflare:workers";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { buildServer } from "./build-server.ts";
import { KETTLE_URI } from "./kettle.ts";
import { World } from "./world.ts";

export class LegacySession extends DurableObject {
  #transport: WebStandardStreamableHTTPServerTransport | undefined;
  #world: World | undefined;
  #stopWatching: (() => void) | undefined;
  #subscribed = new Set<string>();
  #newsStreams = 0;

  override async fetch(request: Request): Promise<Response> {
    if (!this.#transport) {
      // Only the request that opens a session comes without an id; any other is too late.
      if (request.headers.has("mcp-session-id")) return sessionNotFound();
      this.#transport = await this.#open();
    }
    const response = await this.#transport.handleRequest(request);
    const isNews = request.method === "GET" && response.ok;
    return isNews ? this.#countNewsStream(response) : response;
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    // Every session has a garden of its own: nothing outlives the conversation.
    const world = new World(false, {
      // Showing and hiding makes the SDK send the list_changed notifications.
      gardenChanged: (open) => garden.show(open),
      kettleChanged: () => void server.server.sendResourceUpdated({ uri: KETTLE_URI }),
    });
    const { server, garden } = buildServer(world);
    this.#world = world;

    // The SDK routes the two verbs; which resources this client follows is ours to remember.
    server.server.setRequestHandler("resources/subscribe", ({ params }) => {
      this.#subscribed.add(params.uri);
      this.#watchWhileHeard();
      return {};
    });
    server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      this.#subscribed.delete(params.uri);
      this.#watchWhileHeard();
      return {};
    });

    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.ctx.id.toString(),
    });
    await server.connect(transport);
    return transport;
  }

  /** Watches the kettle only while the client follows it and a stream is open to tell it. */
  #watchWhileHeard(): void {
    const heard = this.#newsStreams > 0 && this.#subscribed.has(KETTLE_URI);
    if (heard) {
      this.#stopWatching ??= this.#world?.watchKettle();
    } else {
      this.#stopWatching?.();
      this.#stopWatching = undefined;
    }
  }

  /** Passes a GET stream on unchanged, and notices when either side ends it. */
  #countNewsStream(response: Response): Response {
    if (!response.body) return response;
    const reader = response.body.getReader();
    const ended = (): void => {
      this.#newsStreams -= 1;
      this.#watchWhileHeard();
    };
    this.#newsStreams += 1;
    this.#watchWhileHeard();

    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        ended();
        controller.close();
      },
      async cancel(reason) {
        ended();
        await reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }
}

/** The answer that tells a client to start a new session. */
export function sessionNotFound(): Response {
  return rpcError(404, -32001, "Session not found");
}

export function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
