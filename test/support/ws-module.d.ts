/** What the tests use of the package `ws`, which has no types of its own. */

declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage, Server } from "node:http";
  import type { Duplex } from "node:stream";

  export class WebSocket extends EventEmitter {
    send(text: string, options?: { readonly fin?: boolean }): void;
    ping(): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: {
      readonly noServer: true;
      readonly handleProtocols?: () => string;
      readonly maxPayload?: number;
    });
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (socket: WebSocket) => void,
    ): void;
  }
}
