/** Resume tokens and progress tokens that lead back to the server that a message came from. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { markToken, readToken } from "../../../src/relay/client-peer.ts";
import {
  resumeTokensIn,
  readServerResumeToken,
  resumeTokenAmong,
  resumeTokenWith,
  serverResumeToken,
} from "../../../src/relay/server-resume-token.ts";

// A slug may be what every object has.
const slug = fc.oneof(
  fc.constantFrom("a", "b", "constructor"),
  fc.stringMatching(/^[a-z0-9-]{1,24}$/),
);
const said = fc.array(fc.tuple(slug, fc.string()), { maxLength: 20, size: "max" });

describe("a resume token", () => {
  test("leads to its server, with the server's own", ({ expect }) => {
    fc.assert(
      fc.property(slug, fc.option(fc.string(), { nil: undefined }), (slug, resumeToken) => {
        expect(readServerResumeToken(serverResumeToken(slug, resumeToken))).toEqual({
          slug,
          resumeToken,
        });
      }),
    );
  });

  test("of the standalone stream has the last position of every server", ({ expect }) => {
    fc.assert(
      fc.property(said, (said) => {
        let newest: string | undefined;
        const last = new Map<string, string>();
        for (const [slug, resumeToken] of said) {
          newest = resumeTokenAmong(newest, slug, resumeToken);
          last.set(slug, resumeToken);
          expect(readServerResumeToken(newest)).toEqual({ slug, resumeToken });
        }
        expect(Object.fromEntries(resumeTokensIn(newest))).toEqual(Object.fromEntries(last));
      }),
    );
  });

  test("gets the position of another server, and goes on leading to its own message", ({
    expect,
  }) => {
    fc.assert(
      fc.property(said, slug, fc.string(), (said, primed, own) => {
        let newest: string | undefined;
        for (const [slug, resumeToken] of said)
          newest = resumeTokenAmong(newest, slug, resumeToken);
        const led = readServerResumeToken(newest);
        const after = resumeTokenWith(newest, primed, own);
        const isOther = led !== undefined && led.slug !== primed;
        expect(readServerResumeToken(after)).toEqual(
          isOther ? led : { slug: primed, resumeToken: own },
        );
        const places = new Map(resumeTokensIn(newest)).set(primed, own);
        expect(Object.fromEntries(resumeTokensIn(after))).toEqual(Object.fromEntries(places));
      }),
    );
  });

  test.for([undefined, "", "{", "[]", "7", '"a"', '{"t":"x"}', '{"s":1}', '{"request":"1-1"}'])(
    "is not read from %j",
    (text, { expect }) => {
      expect(readServerResumeToken(text)).toBeUndefined();
      expect([...resumeTokensIn(text)]).toEqual([]);
    },
  );
});

describe("a progress token", () => {
  test.for(["t", "", 0, -7, '["a",1]'])(
    "%j comes back to the server that asked, with its type",
    (token, { expect }) => {
      const question = { method: "m", params: { a: 1, _meta: { progressToken: token, b: 2 } } };
      const marked = markToken(question, "constructor");
      const meta = marked.params?.["_meta"] as { progressToken: unknown; b: unknown };
      expect(meta).toMatchObject({ b: 2 });
      expect(readToken(meta.progressToken)).toEqual({ slug: "constructor", token });
    },
  );

  test("is not added to a request without one", ({ expect }) => {
    for (const question of [{ method: "m" }, { method: "m", params: { _meta: { a: 1 } } }]) {
      expect(markToken(question, "a")).toBe(question);
    }
  });

  test.for([undefined, 7, "x", "[]", '["a"]', '["a",null]', "[1,2]", "{}"])(
    "%j leads to no server",
    (token, { expect }) => {
      expect(readToken(token)).toBeUndefined();
    },
  );
});
