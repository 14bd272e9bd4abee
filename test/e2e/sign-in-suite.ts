/** What every real client has to manage, at a gateway as `npm start` serves it. */

import { afterAll, beforeAll, describe, test } from "vitest";

import { Browser } from "../support/oauth-browser.ts";
import { approve } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  type Fetch,
  Keychain,
  type SdkConnection,
  type SdkKind,
  Wire,
} from "../support/oauth-sdk.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { textOf } from "./outcome.ts";

const TOOL = "todays_tea";
const RESULT = /^Today we pour /;
const AT_ONCE = 8;

/** An application with a user, who is the owner. */
export class Application {
  readonly keychain: Keychain;
  readonly wire: Wire;
  readonly browser: Browser;
  readonly #kind: SdkKind;
  readonly #open: SdkConnection[] = [];

  /** @param send in place of `fetch`. */
  constructor(origin: string, kind: SdkKind, keychain = new Keychain(), send?: Fetch) {
    this.keychain = keychain;
    this.wire = new Wire(send);
    this.browser = new Browser(origin, overHttp);
    this.#kind = kind;
  }

  /** A new connection, as a start of the application makes it. */
  newConnection(): SdkConnection {
    const url = new URL(this.browser.origin + this.#kind.path);
    const connection = this.#kind.open(url, this.keychain, this.wire.fetch);
    this.#open.push(connection);
    return connection;
  }

  /** Connects, with the user's help if that is needed. */
  async connect(): Promise<SdkConnection> {
    const connection = this.newConnection();
    const sent = this.keychain.redirects.length;
    try {
      await connection.connect();
      return connection;
    } catch (error) {
      if (!(error instanceof this.#kind.Unauthorized)) throw error;
    }
    const url = this.keychain.redirects[sent];
    if (url === undefined) throw new Error("The user was sent nowhere");
    const answer = (await approve(this.browser, url, { code: OWNER_CODE })).searchParams;
    if (answer.get("state") !== url.searchParams.get("state")) throw new Error("Another's answer");
    await connection.finish(answer);
    const next = this.newConnection();
    await next.connect();
    return next;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((connection) => connection.close()));
  }
}

/** @returns what the tool of the demo said; the test fails when it said something else. */
export async function useTool(connection: SdkConnection): Promise<string> {
  const text = textOf(await connection.callTool(TOOL));
  if (!RESULT.test(text)) throw new Error(`Not the tool's result: ${text}`);
  return text;
}

export function signInSuite(kinds: readonly SdkKind[]): void {
  let gateway: Server;
  beforeAll(async () => {
    gateway = await startGateway({ auth: "oauth" });
  });
  afterAll(() => gateway.stop());

  describe.each(kinds)("$name", (kind) => {
    const signIn = test.extend(
      "application",
      // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
      async ({}, { onCleanup }): Promise<Application> => {
        const application = new Application(gateway.url, kind);
        onCleanup(() => application.close());
        return application;
      },
    );

    signIn("goes from nothing to a tool result", async ({ expect, application }) => {
      await useTool(await application.connect());
      expect(application.wire.take()).toEqual(["register", "authorization_code"]);
      expect(application.keychain.redirects).toHaveLength(1);
    });

    signIn("is not asked again when it starts again", async ({ expect, application }) => {
      await useTool(await application.connect());
      application.wire.take();
      await useTool(await application.connect());
      expect(application.wire.take()).toEqual([]);
      expect(application.keychain.redirects).toHaveLength(1);
    });

    signIn("refreshes when its access token is good no more", async ({ expect, application }) => {
      const connection = await application.connect();
      await useTool(connection);
      application.wire.take();
      const before = application.keychain.kept;
      application.keychain.spoil("access_token");
      await useTool(connection);
      expect(application.wire.take()).toEqual(["refresh_token"]);
      expect(application.keychain.kept?.access_token).not.toBe(before?.access_token);
      expect(application.keychain.redirects).toHaveLength(1);
    });

    // Of one connection, SDK 1 takes a second 401 for the answer to its new token, and gives up.
    signIn(
      "shares one sign-in among many, which refresh at once",
      async ({ expect, application }) => {
        await application.connect();
        const connect = (): Promise<SdkConnection> => application.connect();
        const connections = await Promise.all(Array.from({ length: AT_ONCE }, connect));
        application.wire.take();
        application.keychain.spoil("access_token");
        await Promise.all(connections.map(useTool));
        expect(new Set(application.wire.take())).toEqual(new Set(["refresh_token"]));
        await useTool(await application.connect());
        expect(application.keychain.redirects).toHaveLength(1);
      },
    );

    signIn("signs in again when nothing that it has is good", async ({ expect, application }) => {
      await useTool(await application.connect());
      application.wire.take();
      application.keychain.spoil("access_token");
      application.keychain.spoil("refresh_token");
      await useTool(await application.connect());
      expect(application.wire.take()).toEqual(["refresh_token", "authorization_code"]);
      expect(application.keychain.redirects).toHaveLength(2);
    });
  });
}
