/** The token that resumes an exchange: written as a text, and read from anything. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  readResumeToken,
  type ResumePoint,
  withResumeTokens,
  writeResumeToken,
} from "../../../../src/upstream/legacy/resume-token.ts";

const id = fc.oneof(fc.string(), fc.integer());
const points: fc.Arbitrary<ResumePoint> = fc.record(
  {
    ...{ request: id, progressToken: id, lastEventId: fc.string(), ask: id },
    ...{ session: fc.string(), task: fc.string() },
  },
  { requiredKeys: [] },
);

describe("a resume token", () => {
  test("is read as it was written, the types of its ids included", ({ expect }) => {
    fc.assert(
      fc.property(points, (point) => {
        const text = writeResumeToken(point);
        const isUseful = point.lastEventId !== undefined || point.ask !== undefined;
        expect(text !== undefined).toBe(isUseful);
        if (text !== undefined) expect(readResumeToken(text)).toEqual(point);
      }),
    );
  });

  test.for(["", "{", "null", "7", "[]", '"e-1"'])(
    "is empty when it is read from %j",
    (text, { expect }) => {
      expect(readResumeToken(text)).toEqual({});
    },
  );

  test("loses members of the wrong type, and no more", ({ expect }) => {
    const text = JSON.stringify({ request: {}, progressToken: null, lastEventId: 7, ask: 0, x: 1 });
    expect(readResumeToken(text)).toEqual({ ask: 0 });
  });
});

/** A recipient, and the resume tokens that its messages got. */
function taking(base?: ResumePoint): {
  recipient: ReturnType<typeof withResumeTokens>;
  taken: (ResumePoint | undefined)[];
} {
  const taken: (ResumePoint | undefined)[] = [];
  const take = (text: string | undefined): void => {
    taken.push(text === undefined ? undefined : readResumeToken(text));
  };
  const recipient = withResumeTokens(
    {
      notify: (_notice, resumeToken) => Promise.resolve(take(resumeToken)),
      ask: (_request, _withdrawn, resumeToken) => {
        take(resumeToken);
        return Promise.resolve({ result: {} });
      },
      primed: take,
    },
    base,
  );
  return { recipient, taken };
}
describe("the resume tokens of an exchange's messages", () => {
  const NOTICE = { method: "notifications/message" };

  test("lead to the position after each, or after the last one that had an id", async ({
    expect,
  }) => {
    const base = { request: "r-1", progressToken: 0 };
    const { recipient, taken } = taking(base);
    await recipient.notify(NOTICE, {});
    await recipient.notify(NOTICE, { lastEventId: "e-1" });
    await recipient.notify(NOTICE, {});
    await recipient.ask(NOTICE, new AbortController().signal, { ask: 5 });
    await recipient.notify(NOTICE, { lastEventId: "e-2" });
    expect(taken).toEqual([
      undefined,
      { ...base, lastEventId: "e-1" },
      { ...base, lastEventId: "e-1" },
      { ...base, lastEventId: "e-1", ask: 5 },
      { ...base, lastEventId: "e-2" },
    ]);
  });

  test("lead to where the stream was primed, also those of messages on another stream", async ({
    expect,
  }) => {
    const { recipient, taken } = taking({ request: "r-1", session: "s" });
    recipient.primed({ lastEventId: "e-0", session: "s" });
    await recipient.ask(NOTICE, new AbortController().signal, { ask: 5, session: "s" });
    const place = { request: "r-1", session: "s", lastEventId: "e-0" };
    expect(taken).toEqual([place, { ...place, ask: 5 }]);
  });

  test("begin where the exchange was resumed", async ({ expect }) => {
    const { recipient, taken } = taking({ request: "r-1", lastEventId: "e-7" });
    await recipient.notify(NOTICE, {});
    expect(taken).toEqual([{ request: "r-1", lastEventId: "e-7" }]);
  });
});
