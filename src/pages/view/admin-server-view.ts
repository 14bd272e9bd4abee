/** The page of one server for whoever runs the gateway: how it is reached, how it is, and what went wrong lately. */

import { connectPath } from "../../accounts/addresses.ts";
import type { EntryNotice, Look, PastTrouble } from "../../observability/health.ts";
import type { AttentionItem, AttentionKind } from "../operator/attention-item.ts";
import type { NamedReport, ShownSwitch } from "../operator/gateway-servers.ts";
import { KNOWN_BY } from "./accounts-view.ts";
import { CATALOG_STYLE } from "./catalog-style.ts";
import { entryNotices } from "./entry-notices.ts";
import {
  conflictEntry,
  healthBadge,
  MAX_MESSAGE,
  offer,
  subscriptions,
  unseenWords,
} from "./health-parts.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import {
  actionButton,
  badge,
  confirmed,
  exactText,
  type Fact,
  factList,
  foreign,
  notice,
  type PageContext,
  part,
} from "./parts.ts";
import { catalogPath, checkServerPath, PATHS, switchServerPath } from "./paths.ts";
import { type ServerTools, toolsSection } from "./server-tools-view.ts";
import { when } from "./time.ts";

export interface AdminServerView extends PageContext {
  readonly nav: Nav;
  readonly slug: string;
  /** The operator's name for one that is not served. */
  readonly label?: string | undefined;
  /** An entry of `MCP_SERVERS` has the slug. */
  readonly isConfigured: boolean;
  /** The part of one that an operator has added. */
  readonly added?: Html | undefined;
  /** Absent for an entry of the configuration that is not served. */
  readonly server: NamedReport | undefined;
  readonly notices: readonly EntryNotice[];
  readonly toggle: ShownSwitch;
  /** Absent for a server that is not served. */
  readonly tools: ServerTools | undefined;
  /** The sentence on what was just done with a tool. */
  readonly toolNotice: string | undefined;
  /** What needs somebody, and is mended here. */
  readonly items: readonly AttentionItem[];
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

const TRANSPORTS = { "streamable-http": "Streamable HTTP", sse: "HTTP+SSE" } as const;
const ERAS = new Map([
  ["legacy", "legacy, with sessions"],
  ["modern", "modern, without sessions"],
]);
const MAX_WORDS = 200;
const MENDED_THERE =
  "It is mended where the gateway is configured, and holds from the next deployment on. A secret is set with npx wrangler secret put, followed by its name.";
/** What stands in the parts of the page anyway. */
const SHOWN_BELOW: ReadonlySet<AttentionKind> = new Set([
  ...(["secret", "configuration", "unreachable", "conflict"] as const),
]);

export function adminServerView(model: AdminServerView): View {
  const { slug, server, notices, items, nav } = model;
  const unseen = items.filter(({ kind }) => !SHOWN_BELOW.has(kind));
  const name = server?.health.label ?? model.label ?? slug;
  const body = html`
    <p class="small back">
      <a href="${PATHS.admin}">Admin</a> · <a href="${PATHS.adminServers}">Servers</a>
    </p>
    <h1>${foreign(name, slug)} ${server && healthBadge(server.health)}</h1>
    ${notice(model.notice)}
    ${
      unseen.length > 0 &&
      html`<ul class="note warn">
        ${unseen.map(({ what }) => html`<li>${foreign(what, "", MAX_MESSAGE)}</li>`)}
      </ul>`
    }
    ${
      notices.length > 0 &&
      part(
        "Configuration",
        model.isConfigured ? MENDED_THERE : "What is wrong with it is mended here, below.",
        entryNotices(notices),
      )
    }
    ${server && served(server, model)} ${model.added}
    ${((server !== undefined && model.isConfigured) || model.toggle.isOff) && toggle(model)}
    ${tools(model)}
  `;
  return {
    title: slug,
    body,
    width: "wide",
    kind: "site",
    nav,
    style: CATALOG_STYLE,
    sendsOnce: true,
  };
}

function tools({
  tools: all,
  slug,
  csrf,
  toggle: { revision },
  toolNotice,
}: AdminServerView): Html {
  if (all === undefined) return html``;
  return toolsSection(all, { slug, csrf, revision, notice: toolNotice });
}

function toggle({ slug, csrf, toggle: { isOff, revision } }: AdminServerView): Html {
  const fields = { csrf, revision: String(revision), to: isOff ? "on" : "off" };
  const action = switchServerPath(slug);
  return part(
    "Switch",
    "It goes over what the configuration says, and can only take away.",
    isOff
      ? actionButton({ action, label: "Switch on", about: slug, fields, look: "primary" })
      : confirmed(
          "sure",
          "Switch off",
          "Nobody can use it until it is switched on again. What is kept of it stays.",
          { action, label: "Switch off for everybody", about: slug, fields },
        ),
  );
}

function served(server: NamedReport, { slug, csrf, now }: AdminServerView): Html {
  const { health, looks, troubles } = server;
  const { conflicts = [] } = health;
  const canLook = health.state !== "personal" && health.state !== "unconnected";
  return html`${part(
    "How it is",
    undefined,
    html`${factList(factsOf(server, now))}
    ${
      canLook &&
      html`<div class="action">
        ${actionButton({ action: checkServerPath(slug), label: "Check now", about: slug, fields: { csrf } })}
        <a class="button" href="${catalogPath(slug)}">What it offers</a>
      </div>`
    }
    ${
      health.state === "unconnected" &&
      server.auth === "oauth-shared" &&
      html`<p><a class="button primary" href="${connectPath(slug)}">Connect the account</a></p>`
    }`,
  )}
  ${
    conflicts.length > 0 &&
    part(
      "Conflicts",
      "A resource that two servers have is that of the one which is configured first: change the order, or deny it at one of them.",
      html`${conflicts.map(conflictEntry)}`,
    )
  }
  ${
    looks.length > 0 &&
    part("Last looks", "Each reads all that the server lists.", looksTable(looks, now))
  }
  ${
    troubles.length > 0 &&
    part(
      "Last troubles",
      undefined,
      html`<ul class="activity">
        ${troubles.map((each) => troubleEntry(each, now))}
      </ul>`,
    )
  }`;
}

function factsOf(
  { health, url, found, info, capabilities, auth }: NamedReport,
  now: number,
): Fact[] {
  const { trouble, seenAt, changedAt, watched, note } = health;
  const said = Object.keys(capabilities ?? {}).join(", ");
  const facts: readonly (Fact | undefined)[] = [
    ["Address", exactText(url)],
    found && ["Transport", TRANSPORTS[found.transport]],
    found && ["Era", ERAS.get(found.era) ?? found.era],
    found && ["Revision", exactText(found.revision)],
    info && ["Calls itself", foreign(nameIn(info), "nothing", MAX_WORDS)],
    capabilities && ["Capabilities", said === "" ? "none" : foreign(said, "none", MAX_WORDS)],
    ["Knows callers", KNOWN_BY[auth]],
    ["Offers", seenAt === undefined ? (note ?? unseenWords(health)) : offer(health.counts)],
    changedAt === undefined ? undefined : ["Changed", when(changedAt, now)],
    seenAt === undefined ? undefined : ["Seen", when(seenAt, now)],
    watched > 0 ? ["Watched", subscriptions(health)] : undefined,
    trouble && [
      "Trouble",
      html`${foreign(trouble.message, "", MAX_MESSAGE)}${causeOf(trouble)}, began
      ${when(trouble.since, now)}`,
    ],
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** `serverInfo` is a server's own: any of it may be anything. */
function nameIn(info: Readonly<Record<string, unknown>>): string {
  const said = [info["title"] ?? info["name"], info["version"]];
  return said.filter((each) => typeof each === "string").join(" ");
}

function causeOf({ cause }: Pick<PastTrouble, "cause">): string {
  return cause === undefined ? "" : ` (${cause})`;
}

function looksTable(looks: readonly Look[], now: number): Html {
  return html`<ul class="activity">
    ${looks.map(
      ({ at, ms, failure }) =>
        html`<li>
          <span class="small">${when(at, now)}</span>
          <span
            >${ms} ms
            ${failure === undefined ? badge("Read", "good") : badge(`Failed: ${failure}`, "bad")}</span
          >
        </li>`,
    )}
  </ul>`;
}

function troubleEntry(trouble: PastTrouble, now: number): Html {
  const { message, since, until } = trouble;
  return html`<li>
    <span class="small">${when(since, now)}</span>
    <span
      >${foreign(message, "", MAX_MESSAGE)}${causeOf(trouble)}
      ${until === undefined ? badge("Goes on", "bad") : html`<span class="small">until ${when(until, now)}</span>`}</span
    >
  </li>`;
}
