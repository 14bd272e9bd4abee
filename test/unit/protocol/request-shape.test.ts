/** The shape of a request of 2026-07-28: each member that the schema knows, with each type it must not have. */

import { describe, test } from "vitest";

import { parseLossless as parse } from "../../../src/lib/lossless-json.ts";
import { classify } from "../../../src/protocol/classify.ts";
import {
  CAPABILITIES,
  CLIENT_INFO,
  mirrored,
  MODERN,
  request,
  VERSION,
} from "./modern-requests.ts";

const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const LEVELS = [
  ...["debug", "info", "notice", "warning"],
  ...["error", "critical", "alert", "emergency"],
];

const NO_STRING = [null, true, 0, [], {}];
const NO_OBJECT = [null, true, 0, "x", []];
const NO_BOOLEAN = [null, 0, 1, "yes", [], {}];
const NO_STRINGS = [null, true, 0, "x", {}, [1], ["x", null]];

interface Member {
  /** As the refusal names it. */
  readonly path: string;
  readonly put: (value: unknown) => object;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const envelopeWith = (more: object): object => ({
  _meta: { [VERSION]: MODERN, [CAPABILITIES]: {}, ...more },
});
const able = (capabilities: object): object => envelopeWith({ [CAPABILITIES]: capabilities });
const named = (more: object): object =>
  envelopeWith({ [CLIENT_INFO]: { name: "c", version: "1", ...more } });
const iconic = (icon: object): object =>
  named({ icons: [{ src: "https://a.example/i", ...icon }] });

const CAPABILITY_PATH = `params._meta["${CAPABILITIES}"]`;
const INFO_PATH = `params._meta["${CLIENT_INFO}"]`;

const ENVELOPE: readonly Member[] = [
  ...["sampling", "elicitation", "roots", "extensions", "experimental"].map((name) => ({
    path: `${CAPABILITY_PATH}.${name}`,
    put: (value: unknown) => able({ [name]: value }),
    good: [{}, { "example.com/x": {} }],
    bad: NO_OBJECT,
  })),
  ...[
    ["sampling", "context"],
    ["sampling", "tools"],
    ["elicitation", "form"],
    ["elicitation", "url"],
    ["extensions", "ui"],
    ["experimental", "ui"],
  ].map(([outer = "", inner = ""]) => ({
    path: `${CAPABILITY_PATH}.${outer}.${inner}`,
    put: (value: unknown) => able({ [outer]: { [inner]: value } }),
    good: [{}, { any: "thing" }],
    bad: NO_OBJECT,
  })),
  {
    path: `${CAPABILITY_PATH}.extensions["io.modelcontextprotocol/tasks"]`,
    put: (value) => able({ extensions: { ui: {}, "io.modelcontextprotocol/tasks": value } }),
    good: [{}],
    bad: NO_OBJECT,
  },
  ...["title", "description", "websiteUrl"].map((name) => ({
    path: `${INFO_PATH}.${name}`,
    put: (value: unknown) => named({ [name]: value }),
    good: ["", "x"],
    bad: NO_STRING,
  })),
  {
    path: `${INFO_PATH}.icons`,
    put: (icons) => named({ icons }),
    good: [[], [{ src: "data:," }]],
    bad: [null, true, 0, "x", {}],
  },
  {
    path: `${INFO_PATH}.icons.0`,
    put: (icon) => named({ icons: [icon] }),
    good: [],
    bad: NO_OBJECT,
  },
  {
    path: `${INFO_PATH}.icons.0.src`,
    put: (src) => iconic({ src }),
    good: ["data:,"],
    bad: [undefined, ...NO_STRING],
  },
  {
    path: `${INFO_PATH}.icons.0.mimeType`,
    put: (mimeType) => iconic({ mimeType }),
    good: ["image/png"],
    bad: NO_STRING,
  },
  {
    path: `${INFO_PATH}.icons.0.sizes`,
    put: (sizes) => iconic({ sizes }),
    good: [[], ["48x48", "any"]],
    bad: NO_STRINGS,
  },
  {
    path: `${INFO_PATH}.icons.0.theme`,
    put: (theme) => iconic({ theme }),
    good: ["light", "dark"],
    bad: [...NO_STRING, "sepia"],
  },
  {
    path: `params._meta["${LOG_LEVEL}"]`,
    put: (level) => envelopeWith({ [LOG_LEVEL]: level }),
    good: LEVELS,
    bad: [...NO_STRING, "loud", "INFO", ""],
  },
  {
    path: "params._meta.progressToken",
    put: (progressToken) => envelopeWith({ progressToken }),
    good: [
      "",
      "p",
      0,
      -1,
      2 ** 53,
      ...["1.0", "1e400", "12345678901234567890"].map((text) => parse(text)),
    ],
    bad: [null, true, 1.5, [], {}, parse("1.50"), parse("1e-400")],
  },
];

const filtering = (notifications: unknown): object => ({ ...envelopeWith({}), notifications });
const FILTER: readonly Member[] = [
  {
    path: "params.notifications",
    put: filtering,
    good: [{}, { other: 1 }],
    bad: [undefined, ...NO_OBJECT],
  },
  ...["toolsListChanged", "promptsListChanged", "resourcesListChanged"].map((name) => ({
    path: `params.notifications.${name}`,
    put: (value: unknown) => filtering({ [name]: value }),
    good: [true, false],
    bad: NO_BOOLEAN,
  })),
  ...["resourceSubscriptions", "taskIds"].map((name) => ({
    path: `params.notifications.${name}`,
    put: (value: unknown) => filtering({ [name]: value }),
    good: [[], ["a", "b"]],
    bad: NO_STRINGS,
  })),
];

const CASES = [
  ...ENVELOPE.map((member) => ({ ...member, method: "tools/list" })),
  ...FILTER.map((member) => ({ ...member, method: "subscriptions/listen" })),
];

describe.each(CASES)("$path", ({ path, method, put, good, bad }) => {
  test("is taken as the schema has it", ({ expect }) => {
    for (const value of good) {
      expect(classify(request(method, put(value)), mirrored(method))).toMatchObject({
        kind: "modern",
      });
    }
  });

  test("is refused with 400 and -32602 otherwise, by its name", ({ expect }) => {
    for (const value of bad) {
      expect(classify(request(method, put(value)), mirrored(method))).toEqual({
        kind: "rejected",
        status: 400,
        id: 7,
        error: { code: -32602, message: expect.stringMatching(startOf(path)) },
      });
    }
  });
});

/** The refusal of an element names the list that it is in, and its place. */
function startOf(path: string): RegExp {
  const literal = path.replaceAll(/[.[\]]/g, "\\$&");
  return new RegExp(`^${literal}(\\.\\d+)? (must be|is missing)`);
}

test("members that the schema does not know are left alone", ({ expect }) => {
  const open = { [CLIENT_INFO]: { name: "c", version: "1", own: 1 }, own: 1, traceparent: 1 };
  const body = request("tools/list", {
    _meta: { [VERSION]: MODERN, [CAPABILITIES]: { own: 1, tasks: true }, ...open },
  });
  expect(classify(body, mirrored("tools/list"))).toMatchObject({ kind: "modern" });
});

test("the shapes of a later revision are not judged: its client learns which are served", ({
  expect,
}) => {
  const later = { [VERSION]: "2027-01-01", [CAPABILITIES]: { sampling: true } };
  const headers = { ...mirrored("tools/list"), protocolVersion: "2027-01-01" };
  expect(classify(request("tools/list", { _meta: later }), headers)).toMatchObject({
    error: { code: -32022, data: { supported: [MODERN] } },
  });
});

test("a filter is judged of listeners alone", ({ expect }) => {
  const body = request("tools/list", filtering({ toolsListChanged: "yes" }));
  expect(classify(body, mirrored("tools/list"))).toMatchObject({ kind: "modern" });
});
