/** Where a secret could be found that should be nowhere: in what a gateway has answered, and in what it has stored. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Send } from "../support/oauth-browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import type { Fetch } from "../support/oauth-sdk.ts";

/** Everything that the gateway answered, headers and all. */
export class Answers {
  readonly texts: string[] = [];

  readonly send: Send = async (url, request) => this.#noted(await overHttp(url, request));

  readonly fetch: Fetch = async (input, init) => this.#noted(await fetch(input, init));

  #noted(response: Response): Response {
    this.texts.push(JSON.stringify([...response.headers]));
    if (response.body === null) return response;
    const [read, given] = response.body.tee();
    const { status, headers } = response;
    void new Response(read).text().then(
      (text) => this.texts.push(text),
      () => undefined,
    );
    return new Response(given, { status, headers });
  }
}

/** Of the objects: the configuration of the process lies beside them. */
export async function databasesIn(
  folder: string,
): Promise<readonly [name: string, bytes: Buffer][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.includes(".sqlite"));
  return Promise.all(
    files.map(async ({ parentPath, name }): Promise<[string, Buffer]> => {
      const path = join(parentPath, name);
      return [path, await readFile(path)];
    }),
  );
}
