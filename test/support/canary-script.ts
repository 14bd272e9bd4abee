/**
 * What a test sends to the canary, and what it gets back. Data only: it crosses from a test
 * inside workerd to a server in Node as JSON.
 */

/**
 * Hosts under it belong to clients that tests make up. Every other host is out of bounds, but for
 * the URLs of real clients that a test has put an answer at.
 */
export const CLIENT_HOSTS = ".client.example";

/** How the canary answers requests for one URL. */
export interface CanaryAnswer {
  /** 200 if not said; 0 drops the connection without a response. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The head and the body go out, and then nothing: the response does not end. */
  readonly isEndless?: true;
}

/** One request that left the Worker under test. */
export interface CanaryHit {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** To a host that no test made up, and a URL that none has answered: it was refused. */
  readonly isEscape: boolean;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of the canary's own server. */
    canary: string;
    /** Variables of the Worker under test when it has sign-in. */
    signInBindings: Record<string, string>;
  }
}
