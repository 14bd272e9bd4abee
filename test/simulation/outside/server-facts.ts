/** What a client knows of the server that it calls. */

export interface ServerFacts {
  readonly name: string;
  /** Nothing that the server began is lost with a connection. */
  readonly isKept: boolean;
  readonly isModern: boolean;
  /** Before the names of its tools, where several servers meet. */
  readonly prefix: string;
}
