/** How a client secret is sent to servers that decode Basic, and to those that do not. */

import { describe, test } from "vitest";

import { basicCredentials, secretMethod } from "../../../src/lib/client-secret.ts";

const decoded = (value: string): string => atob(value.replace("Basic ", ""));
const PLAIN = { id: "Pre-registered_1.*", secret: "s3cr3t-_.*" };
const SPECIAL = { id: "https://c.example/", secret: "a+b/c%d:e~ é" };

describe("U19 Basic", () => {
  test("is the same text for both kinds of server, where that can be", ({ expect }) => {
    expect(decoded(basicCredentials(PLAIN))).toBe(`${PLAIN.id}:${PLAIN.secret}`);
    expect(basicCredentials(PLAIN)).toBe(basicCredentials(PLAIN, true));
  });

  test("is form-encoded otherwise, and raw if the operator says so", ({ expect }) => {
    const [id = "", secret = "", ...more] = decoded(basicCredentials(SPECIAL)).split(":");
    expect(more).toEqual([]);
    expect(new URLSearchParams(`id=${id}&secret=${secret}`).get("id")).toBe(SPECIAL.id);
    expect(new URLSearchParams(`id=${id}&secret=${secret}`).get("secret")).toBe(SPECIAL.secret);
    const raw = Uint8Array.from(decoded(basicCredentials(SPECIAL, true)), (c) => c.charCodeAt(0));
    expect(new TextDecoder().decode(raw)).toBe(`${SPECIAL.id}:${SPECIAL.secret}`);
  });

  test.for([
    [PLAIN, undefined, "client_secret_basic"],
    [PLAIN, ["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [PLAIN, ["client_secret_post"], "client_secret_post"],
    [PLAIN, ["private_key_jwt"], "client_secret_basic"],
    [SPECIAL, undefined, "client_secret_basic"],
    [SPECIAL, ["client_secret_basic"], "client_secret_basic"],
    [SPECIAL, ["client_secret_basic", "client_secret_post"], "client_secret_post"],
  ] as const)(
    "is chosen where it is clear: %j at a server with %j",
    ([client, offered, method], { expect }) => {
      expect(secretMethod(client, offered)).toBe(method);
    },
  );
});
