/**
 * Faults of the project's own history, and deliberate ones, that are put into the gateway to see that the
 * simulation finds them.
 */

import type { Edit } from "../platform/bundle.ts";
import { OF_PEOPLE } from "./deliberate-of-people.ts";

export interface Fault {
  readonly name: string;
  readonly area:
    | "sessions"
    | "delivery"
    | "bridge"
    | "notifications"
    | "vault"
    | "principals"
    | "publishing";
  readonly edits: readonly Edit[];
  /** Found within seconds, so that every run of the tests can look for it. */
  readonly isQuick?: boolean;
}

export const DELIBERATE: readonly Fault[] = [
  {
    name: "a stream that a client takes up begins one event too late",
    area: "delivery",
    isQuick: true,
    edits: [
      {
        file: "src/sessions/streams.ts",
        find: "place: { meta: found.meta, after: position.seq }",
        replace: "place: { meta: found.meta, after: position.seq + 1 }",
      },
    ],
  },
  {
    name: "a call that broke is sent to its server again",
    area: "bridge",
    edits: [
      {
        file: "src/relay/relay-to-legacy.ts",
        find: 'const attempts = command.kind === "answer" ? ATTEMPTS : 1;',
        replace: "const attempts = ATTEMPTS;",
      },
    ],
  },
  {
    // It stalled one resume in eleven of clients that were back within nine milliseconds of a cut.
    name: "the stalled resume: the late end of a reader ends its successor",
    area: "delivery",
    edits: [
      {
        file: "durable-objects/session-readers.ts",
        find: "onGone: () => this.#lines.get(name)?.reader.abandon(),",
        replace: "onGone: () => this.#lines.get(name)?.reader.newest()?.abandon(),",
      },
      {
        file: "src/sessions/streams.ts",
        find: "    const other = this.#readers.get(meta);\n",
        replace:
          "    reader.newest = () => this.#readers.get(meta); const other = this.#readers.get(meta);\n",
      },
    ],
  },
  {
    name: "an event is sent before it is in the log",
    area: "delivery",
    edits: [
      {
        file: "durable-objects/line-channel.ts",
        find: "        await this.#synced();",
        replace: "",
      },
    ],
  },
  {
    name: "a question that was answered is taken for open after a restart",
    area: "sessions",
    edits: [
      {
        file: "src/sessions/revive.ts",
        find: "resumeToken === undefined || log.isAnswered(position))",
        replace: "resumeToken === undefined)",
      },
    ],
  },
  {
    name: "a client gets again what it had when the holder of its call was lost",
    area: "bridge",
    edits: [
      {
        file: "src/relay/modern-to-legacy/parking.ts",
        find: "resumeToken: after ?? last.resumeToken",
        replace: "resumeToken: last.resumeToken",
      },
    ],
  },
  {
    name: "a promise that a feed did not hear of is not made good",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/fan-out/interest-registry.ts",
        find: ", isLate: true",
        replace: "",
      },
    ],
  },
  {
    name: "a watch that was cut announces nothing",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/source/legacy-watch.ts",
        find: "      else this.#events.missed();\n",
        replace: "",
      },
    ],
  },
  {
    name: "a feed that was restarted announces nothing",
    area: "notifications",
    isQuick: true,
    edits: [
      {
        file: "src/notifications/source/watch-manager.ts",
        find: "      missed.filter((topic) => this.#wanted.isPromised(topic)),",
        replace: "      [] as Topic[],",
      },
    ],
  },
  {
    name: "a listen stream does not tell of what it missed",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/modern/listen.ts",
        find: "const topics = isGap ? subscription.everything()",
        replace: "const topics = isGap ? []",
      },
    ],
  },
  {
    name: "a session takes the same news twice",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/legacy/notification-inbox.ts",
        find: " || seq <= (this.#seqs.get(slug) ?? -Infinity)) return",
        replace: ") return",
      },
    ],
  },
  {
    name: "a request for a token that had no answer is made again at once",
    area: "vault",
    edits: [
      {
        file: "src/accounts/account.ts",
        find: 'const event = account.isRepeatable ? "not processed" : "unanswered";',
        replace: 'const event = "not processed";',
      },
    ],
  },
  {
    name: "a vault that wakes does not know what it had sent",
    area: "vault",
    edits: [
      {
        file: "src/accounts/service/token-renewal.ts",
        find: "account.sent === undefined ? account : unanswered(account),",
        replace: "account,",
      },
    ],
  },
  {
    name: "a refresh token that was replaced is kept",
    area: "vault",
    edits: [
      {
        file: "src/accounts/service/token-renewal.ts",
        find: "const { accessToken, refreshToken = secrets.refreshToken } = tokens;",
        replace: "const { accessToken } = tokens; const { refreshToken } = secrets;",
      },
    ],
  },
  {
    name: "a life that begins does not look for the calls of an earlier one",
    area: "sessions",
    isQuick: true,
    edits: [
      {
        file: "src/sessions/session.ts",
        find: "    revive(this.#core);",
        replace: "",
      },
    ],
  },
  {
    name: "an accepted answer is not delivered by a later life",
    area: "sessions",
    edits: [
      {
        file: "src/sessions/revive.ts",
        find: "  deliverKeptAnswers(core);\n  for",
        replace: "  for",
      },
    ],
  },
  {
    name: "streams that have ended are not pushed out",
    area: "sessions",
    edits: [
      {
        file: "src/sessions/log/stream-index.ts",
        find: "for (const meta of order.slice(0, excess)) this.forget(meta);",
        replace: "void order;",
      },
    ],
  },
  {
    name: "a call goes on when its stream has outgrown its quota",
    area: "sessions",
    edits: [
      {
        file: "src/sessions/log/stream-index.ts",
        find: "if (!isEndless) return false;",
        replace: "if (!isEndless) return true;",
      },
    ],
  },
  ...OF_PEOPLE,
];
