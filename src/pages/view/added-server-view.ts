/** The part of a server's page that only a server has that an operator has added. */

import type { AddedServer, ProbeReport, Revised } from "../../observability/added-servers.ts";
import { addressText, OVERRIDDEN, stateBadge } from "./admin-servers-view.ts";
import { type Html, html } from "./html.ts";
import {
  actionButton,
  badge,
  confirmed,
  exactText,
  type Fact,
  factList,
  foreign,
  type HiddenFields,
  part,
} from "./parts.ts";
import { addedServerPath } from "./paths.ts";
import { when } from "./time.ts";

export interface AddedServerPart {
  readonly now: number;
  readonly csrf: string;
  readonly added: Revised<AddedServer>;
  /** An entry of `MCP_SERVERS` has its slug, and wins. */
  readonly isOverridden: boolean;
  /** Who changed it last, by name. */
  readonly changedBy: string;
  /** People sign in here, so they can have accounts at it. */
  readonly hasSignIn: boolean;
}

const PROVENANCES = {
  url: "an address",
  map: "a client’s settings",
  "server.json": "a server.json",
} as const;
const MAX_MESSAGE = 600;

export function addedServerPart(model: AddedServerPart): Html {
  const { added, csrf, now, hasSignIn, isOverridden } = model;
  const { slug, state, revision, probe, entry } = added;
  const fields = { csrf, revision: String(revision) };
  const isShown = !isOverridden && state !== "live" && probe !== undefined;
  return html`${part(
    "Added here",
    isOverridden ? OVERRIDDEN : undefined,
    html`${factList(factsOf(model))} ${!isOverridden && actions(added, fields)}
    ${confirmed("sure", "Remove", isOverridden ? REMOVED_OVERRIDDEN : REMOVED, {
      action: addedServerPath(slug, "remove"),
      ...{ label: "Remove it", about: slug, fields },
    })}`,
  )}
  ${isShown && probePart(probe, { now, hasSignIn, auth: entry["auth"] })}`;
}

const REMOVED =
  "It is not served any more, and its secrets are deleted. Accounts that people have connected at it stay with them.";
const REMOVED_OVERRIDDEN =
  "Its secrets are deleted. The server of MCP_SERVERS goes on, with its own.";

function actions({ slug, state }: AddedServer, fields: HiddenFields): Html {
  const action = addedServerPath(slug, "state");
  return html`<div class="action">
    ${
      state === "live"
        ? actionButton({
            ...{ action, label: "Pause", about: slug },
            fields: { ...fields, to: "paused" },
          })
        : actionButton({
            ...{ action, label: state === "draft" ? "Serve it" : "Resume", about: slug },
            ...{ fields: { ...fields, to: "live" }, look: "primary" },
          })
    }
    ${
      state !== "live" &&
      actionButton({
        ...{ action: addedServerPath(slug, "probe"), label: "Look at it", about: slug, fields },
      })
    }
    <a class="button" href="${addedServerPath(slug, "edit")}"
      >Change<span class="unseen"> ${foreign(slug, "?")}</span></a
    >
  </div>`;
}

function factsOf({ added, isOverridden, changedBy, now }: AddedServerPart): Fact[] {
  const { state, entry, secretNames, provenance, changedAt } = added;
  const { name, version } = provenance;
  const from = [name, version].filter((each) => each !== undefined).join(" ");
  return [
    ["State", stateBadge(state, isOverridden)],
    ["Address", addressText(entry["url"])],
    ["Secrets", secretNames.length === 0 ? "none" : exactText(secretNames.join(", "))],
    [
      "Taken from",
      html`${PROVENANCES[provenance.kind]}${from !== "" && html` (${foreign(from, "")})`}`,
    ],
    ["Changed", html`${when(changedAt, now)} by ${foreign(changedBy, "somebody")}`],
  ];
}

const OUTCOMES = {
  reached: ["Reached", "good"],
  login: ["Wants a login", "warn"],
  failed: ["Not reached", "bad"],
} as const;
const ERAS = { legacy: "legacy, with sessions", modern: "modern, without sessions" } as const;
const OFFERS = [
  ["tools", "Tools"],
  ["resources", "Resources"],
  ["templates", "Resource templates"],
  ["prompts", "Prompts"],
] as const;

interface Probed {
  readonly now: number;
  readonly hasSignIn: boolean;
  /** `auth` of the entry. */
  readonly auth: unknown;
}

/** @param said what was done to find it. */
export function probePart(
  { at, outcome, message, era, transport, offers }: ProbeReport,
  { now, ...known }: Probed,
  said = "Requests were sent to its address alone. It has served nobody.",
): Html {
  const [word, look] = OUTCOMES[outcome];
  const facts: readonly (Fact | undefined | false)[] = [
    ["Looked at", html`${when(at, now)} ${badge(word, look)}`],
    message !== undefined && ["Because", foreign(message, "", MAX_MESSAGE)],
    era && ["Era", ERAS[era]],
    transport !== undefined && ["Transport", exactText(transport)],
    ...OFFERS.map(([list, label]): Fact | undefined => {
      const offered = offers?.[list];
      if (offered === undefined) return undefined;
      const more = offered.count - offered.names.length;
      return [
        label,
        html`${offered.count}${offered.names.length > 0 && ": "}${offered.names.map(
          (name, n) => html`${n > 0 && ", "}${foreign(name, "?")}`,
        )}${more > 0 && html` and ${more} more`}`,
      ];
    }),
  ];
  return part(
    "What was found",
    outcome === "login" && message !== undefined ? undefined : said,
    html`${factList(facts.filter((fact) => fact !== undefined && fact !== false))}
    ${outcome === "login" && html`<p>${loginAdvice(known)}</p>`}`,
  );
}

/** What a server that wants a login needs to be of use. */
function loginAdvice({ auth, hasSignIn }: Omit<Probed, "now">): string {
  switch (auth) {
    case "oauth":
      return "Once it is served, each person is asked to connect their own account at it.";
    case "key":
      return "Once it is served, each person is asked for their own key.";
    case "oauth-shared":
      return "Once it is served, connect the account that all share, on this page.";
    case "client-credentials":
      return "Once it is served, the gateway signs in there by itself.";
    default:
      return hasSignIn
        ? "To be of use, it needs a token, entered as a header under Change, or accounts: choose there whether each person connects their own, or one is for everybody."
        : 'To be of use, it needs a token, entered as a header under Change. Accounts that people connect take sign-in (AUTH_MODE = "oauth").';
  }
}
