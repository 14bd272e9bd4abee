/** The text messages of a WebSocket to another part of the gateway, in order. */

/** The close code "Service Restart" of RFC 6455's registry: the other end reconnects. */
export const RECONNECT_CODE = 1012;

export class SocketLines {
  readonly #socket: WebSocket;
  readonly #closeCode: number;
  readonly #lines: string[] = [];
  #isOpen = true;
  #wake: (() => void) | undefined;

  /**
   * @param socket not accepted yet.
   * @param closeCode informs the other end that this end has stopped reading.
   */
  constructor(socket: WebSocket, closeCode: number) {
    this.#socket = socket;
    this.#closeCode = closeCode;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#lines.push(data);
      this.#wake?.();
    });
    socket.addEventListener("close", () => this.#end());
    socket.addEventListener("error", () => this.#end());
    socket.accept();
  }

  /** @returns `undefined` when the socket is closed and every message was read. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined || !this.#isOpen) return line;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  send(line: string): void {
    if (this.#isOpen) this.#socket.send(line);
  }

  close(): void {
    if (this.#isOpen) this.#socket.close(this.#closeCode, "the client has gone");
    this.#end();
  }

  #end(): void {
    this.#isOpen = false;
    this.#wake?.();
  }
}
