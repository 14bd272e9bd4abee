/** What a client knows of the server that it calls. */

export interface ServerFacts {
  readonly name: string;
  /** Nothing that the server began is lost with a connection. */
  readonly isKept: boolean;
  readonly isModern: boolean;
  /** Before the names of its tools, where several servers meet. */
  readonly prefix: string;
  /** The resources that change at any server. */
  readonly uris: readonly string[];
  /** The topic of the list of tools that the client is given. */
  readonly tools: string;
  /** Tools that are in no list while their server is not there, or has no account of the client's person. */
  readonly comeAndGo: readonly string[];
  /** The endpoint of it alone is answered 404 while its person has paused it. */
  readonly mayBeUnknown: boolean;
  /** The gateway promises to tell of the lists, and not only to pass on what the server says. */
  readonly announcesLists: boolean;
  /** The account that it demands is connected. */
  readonly isReady: () => boolean;
  /** Nothing will change any more. */
  readonly isDone: () => boolean;
}
