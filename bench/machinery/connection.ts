/**
 * One connection to a server, kept alive: a request, its answer, and the next one. A server may close
 * it while nothing is asked; then the next request opens another.
 */

import { connect, type Socket } from "node:net";

import { type Answer, AnswerReader } from "./answer-reader.ts";

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class Connection {
  readonly #origin: URL;
  #socket: Socket | undefined;
  readonly #reader = new AnswerReader();
  #waiting: Waiting | undefined;

  constructor(origin: string) {
    this.#origin = new URL(origin);
  }

  /** The lines of a request before its length and body: made once, for very many. */
  head(path: string, headers: Readonly<Record<string, string>>): string {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST ${path} HTTP/1.1\r\nHost: ${this.#origin.host}\r\n${lines.join("")}`;
  }

  /** @param body in ASCII. */
  post(head: string, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket ??= this.#connect();
      this.#socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, "latin1");
    });
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** @param why whoever still waits is told. */
  close(why = new Error("The connection was closed")): void {
    this.#fail(why);
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const { hostname, port } = this.#origin;
    const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
    socket.setNoDelay(true);
    socket.on("data", (bytes) => this.#came(bytes));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => {
      this.#socket = undefined;
      this.#fail(new Error("The connection was closed"));
    });
    // A server that ends its side ends the connection, also where nobody reads.
    socket.on("end", () => {
      this.#socket = undefined;
    });
    return socket;
  }

  #came(bytes: Buffer): void {
    try {
      const answer = this.#reader.read(bytes.toString("latin1"));
      if (answer === undefined) return;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      const body = Buffer.from(answer.body, "latin1").toString();
      waiting?.resolve({ ...answer, body });
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
