/** Deliberate faults in what keeps people apart, and in what they and operators change while clients are there. */

import type { Fault } from "./deliberate.ts";

export const OF_PEOPLE: readonly Fault[] = [
  {
    name: "a session whose server is known late does not take up its calls",
    area: "sessions",
    edits: [
      {
        file: "durable-objects/session-host.ts",
        find: "if (this.#wired === undefined) this.#wireLate();",
        replace: "if (this.#wired === undefined) this.#wire();",
      },
      {
        file: "durable-objects/session-host.ts",
        find: "if (wired === undefined) this.#wireLate();",
        replace: "if (wired === undefined) this.#wire();",
      },
    ],
  },
  {
    name: "a session is good for everybody who knows its id",
    area: "principals",
    isQuick: true,
    edits: [
      {
        file: "src/http/client-session.ts",
        find: "if (claims?.principal !== principal || claims.route !== route)",
        replace: "if (claims === undefined || claims.route !== route)",
      },
    ],
  },
  {
    name: "what is sealed for one client opens for another",
    area: "principals",
    edits: [
      {
        file: "src/endpoint/sealed.ts",
        find: "return p === principal && r === route ? v : undefined;",
        replace: "return r === route ? v : undefined;",
      },
    ],
  },
  {
    name: "all clients share one bridge",
    area: "principals",
    edits: [
      {
        file: "durable-objects/bridges.ts",
        find: "const parts = [principal, slug,",
        replace: "const parts = [slug,",
      },
    ],
  },
  {
    name: "a token is taken for the one before",
    area: "principals",
    edits: [
      {
        file: "src/auth/resource/bearer.ts",
        find: "const key = `${await hashOf(token)} ${resource.id}`;",
        replace: "const key = resource.id;",
      },
    ],
  },
  {
    name: "everybody has the account of whoever came first",
    area: "principals",
    edits: [
      {
        file: "src/endpoint/personal-endpoint.ts",
        find: "const key = JSON.stringify([person, application, origin]);",
        replace: "const key = JSON.stringify([origin]);",
      },
    ],
  },
  {
    name: "an account that was ended is used for as long as its isolate lives",
    area: "principals",
    edits: [
      {
        file: "src/accounts/credentials-of.ts",
        find: "held !== undefined && Date.now() < held.until ? held : undefined;",
        replace: "held;",
      },
    ],
  },
  {
    name: "what people publish is in one object for all",
    area: "publishing",
    isQuick: true,
    edits: [
      {
        file: "durable-objects/connectors.ts",
        find: "return called(CONNECTORS.getByName(person));",
        replace: "return called(CONNECTORS.getByName(person.slice(0, 1)));",
      },
    ],
  },
  {
    name: "calls at a machine that is gone go on",
    area: "publishing",
    edits: [
      {
        file: "src/publishing/local-server.ts",
        find: "for (const channel of this.#channels.values()) channel.end(sentence);\n",
        replace: "void sentence;\n",
      },
    ],
  },
  {
    name: "the processes of a machine that is gone are taken for those of the next",
    area: "publishing",
    edits: [
      {
        file: "src/publishing/local-server.ts",
        find: "    this.#options.open.deleteAll(this.#options.name);\n",
        replace: "",
      },
    ],
  },
  {
    name: "requests at the same time each refresh a token",
    area: "principals",
    edits: [
      {
        file: "src/accounts/service/token-renewal.ts",
        find: "    if (running !== undefined) return running;\n",
        replace: "",
      },
    ],
  },
  {
    name: "what changed between two accounts at a server is not announced",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/legacy/session-subscriptions.ts",
        find: "      if (before === undefined || before === key || key",
        replace: "      if (before === undefined || before !== key || key",
      },
    ],
  },
  {
    name: "a subscription is forgotten while its server is away",
    area: "notifications",
    edits: [
      {
        file: "src/notifications/legacy/session-subscriptions.ts",
        find: "      if (server === undefined) this.#away.add(slug);\n",
        replace: "      if (server === undefined) this.delete(uri);\n",
      },
    ],
  },
  {
    name: "a feed that deletes what it has promised tells nobody",
    area: "publishing",
    edits: [
      {
        file: "durable-objects/feed-object.ts",
        find: "    if (!(await this.#withdrawPromises())) return false;\n",
        replace: "",
      },
    ],
  },
];
