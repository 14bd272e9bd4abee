/**
 * The tasks of 2025-11-25 that a server runs for the client of a session. A server MUST bind a task to the
 * authorization context of its request (2025-11-25, tasks: security). Where all users share an account at the
 * server, or need none, that context is the gateway's own: so the gateway keeps its users apart.
 *
 * A client gets the id of a task sealed to itself, when its call becomes the task. Requests for a task name
 * a sealed id, or reach no server. A list has the tasks that this session knows, and of others the client
 * hears nothing.
 */

import {
  badCursor,
  BEGINNING,
  openServerCursor,
  sealServerCursor,
  type ServerListPosition,
} from "../../catalog/lists/list-cursors.ts";
import type { SealScope } from "../../endpoint/sealed.ts";
import { openTaskId, sealTaskId, unknownTask } from "../../endpoint/task-id.ts";
import type { Limits } from "../../policy/limits.ts";
import { type Call, forwardingTo, type OpenQuestion, type Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import { isTaskId } from "../../protocol/tasks-extension.ts";
import {
  namesTask,
  relatedTaskIn,
  withRelatedTask,
} from "../../protocol/revisions/reserved-meta.ts";
import type { TaskIds } from "../../upstream/legacy/saved-connection.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { KnownTasks } from "./known-tasks.ts";

const STATUS = "notifications/tasks/status";

/** True for a request for tasks, whoever runs them. */
export function isForTasks({ method }: Call): boolean {
  return method.startsWith("tasks/");
}

/** For a client that has no tasks at this server: those that it hears of are somebody else's. */
export function withoutTaskStatus(peer: Peer): Peer {
  return {
    ...forwardingTo(peer),
    notify: (notice, resumeToken) =>
      notice.method === STATUS ? Promise.resolve() : peer.notify(notice, resumeToken),
  };
}

/** Whose tasks they are: what is sealed for one client at one endpoint is nothing to another. */
export interface TasksScope extends SealScope {
  readonly limits: Pick<Limits, "catalogPages" | "listedTasksPerSession">;
}

export class ClientTasks {
  readonly #scope: TasksScope;
  readonly #slug: string;
  readonly #known: KnownTasks;

  /** @param onChange called when `saved` has changed. */
  constructor(
    scope: TasksScope,
    slug: string,
    saved: readonly TaskIds[] = [],
    onChange: () => void,
  ) {
    this.#scope = scope;
    this.#slug = slug;
    this.#known = new KnownTasks(saved, scope.limits.listedTasksPerSession, onChange);
  }

  get saved(): readonly TaskIds[] {
    return this.#known.saved;
  }

  /**
   * Sends a request of the client under the server's own ids.
   *
   * @throws what `send` throws.
   */
  async request(call: Call, send: (own: Call) => Promise<Reply>): Promise<Reply> {
    const { method, params } = call;
    const own = namesTask(params) ? await this.#related(params) : params;
    if (namesTask(params) && own === undefined) return unknownTask();
    if (method === "tasks/list") return this.#list(own, send);
    if (isForTasks(call)) return this.#ask(method, own, send);
    // Without its keys, the gateway could not give the client the task that the server has begun.
    if (own?.["task"] !== undefined) await this.#scope.keys.keyring();
    return this.shown(await send(own === undefined ? { method } : { method, params: own }));
  }

  /** A request for one task. */
  async #ask(
    method: string,
    params: Params | undefined,
    send: (own: Call) => Promise<Reply>,
  ): Promise<Reply> {
    const given = params?.["taskId"];
    const taskId = await this.#open(given);
    if (taskId === undefined) return unknownTask();
    const reply = await send({ method, params: { ...params, taskId } });
    if ("error" in reply || !("taskId" in reply.result)) return this.shown(reply);
    return this.shown({ result: { ...reply.result, taskId: given } });
  }

  async #list(params: Params | undefined, send: (own: Call) => Promise<Reply>): Promise<Reply> {
    const { cursor: sent, ...rest } = params ?? {};
    const method = "tasks/list";
    if (sent === undefined) return this.#page(await send({ method, params: rest }), BEGINNING);
    // A cursor of the server's may be the id of a task.
    const position = await openServerCursor(this.#scope, this.#slug, "tasks", sent);
    if (position === undefined) return badCursor();
    const own = { ...rest, cursor: position.cursor };
    return this.#page(await send({ method, params: own }), position);
  }

  async #page(reply: Reply, { cursor, pages }: ServerListPosition): Promise<Reply> {
    if ("error" in reply) return reply;
    const { tasks, nextCursor, ...rest } = reply.result;
    const listed: readonly unknown[] = Array.isArray(tasks) ? tasks : [];
    const page = { ...rest, tasks: listed.flatMap((task) => this.#listed(task)) };
    const goesOn =
      typeof nextCursor === "string" &&
      nextCursor !== cursor &&
      pages + 1 < this.#scope.limits.catalogPages;
    if (!goesOn) return this.shown({ result: page });
    const next = { pages: pages + 1, cursor: nextCursor };
    const sealed = await sealServerCursor(this.#scope, this.#slug, "tasks", next);
    return this.shown({ result: { ...page, nextCursor: sealed } });
  }

  #listed(task: unknown): readonly JsonObject[] {
    if (!isObject(task)) return [];
    const taskId = this.#known.givenFor(task["taskId"]);
    return taskId === undefined ? [] : [{ ...task, taskId }];
  }

  /** The reply to a request of an earlier life, of which nothing is known but this. */
  async resumed(reply: Reply): Promise<Reply> {
    const { tasks, content } = "error" in reply ? {} : reply.result;
    const isList = Array.isArray(tasks) && content === undefined;
    return isList ? this.#page(reply, BEGINNING) : this.shown(reply);
  }

  /** Replaces the server's ids in a reply. A task that is not known yet is that of the client's call. */
  async shown(reply: Reply): Promise<Reply> {
    if ("error" in reply) return reply;
    const { task, content, taskId } = reply.result;
    let { result } = reply;
    if (isObject(task) && "taskId" in task && content === undefined) {
      result = { ...result, task: { ...task, taskId: await this.#give(task["taskId"]) } };
    }
    const given = this.#known.givenFor(taskId);
    return { result: this.#named(given === undefined ? result : { ...result, taskId: given }) };
  }

  /** @returns the id for the client. */
  async #give(taskId: unknown): Promise<string> {
    if (!isTaskId(taskId)) {
      const sentence =
        "began a task under an id that cannot be used, so nobody will see its result";
      throw new UpstreamError(this.#slug, "malformed", sentence);
    }
    const known = this.#known.givenFor(taskId);
    if (known !== undefined) return known;
    const given = await sealTaskId(this.#scope, "older-task", { slug: this.#slug, taskId });
    this.#known.add(taskId, given);
    return given;
  }

  /** @returns the server's own id; `undefined` for an id that was not given to this client. */
  async #open(given: unknown): Promise<string | undefined> {
    const { slug, taskId } = (await openTaskId(this.#scope, "older-task", given)) ?? {};
    if (typeof given !== "string" || taskId === undefined || slug !== this.#slug) return undefined;
    this.#known.add(taskId, given);
    return taskId;
  }

  /** The client of a session, as this server sees it. */
  peer(peer: Peer): Peer {
    return {
      ...forwardingTo(peer),
      notify: async (notice, resumeToken) => {
        const shown = this.#notice(notice);
        if (shown !== undefined) await peer.notify(shown, resumeToken);
      },
      ask: async ({ method, params }, ...rest) => {
        const asked = params === undefined ? { method } : { method, params: this.#named(params) };
        const answer = await peer.ask(asked, ...rest);
        // A client may run tasks, too, for its server. Their ids are its own.
        return method.startsWith("tasks/") ? answer : this.answer(answer);
      },
    };
  }

  /** @returns `undefined` for a notification about a task that is not the client's. */
  #notice({ method, params }: Call): Call | undefined {
    if (method !== STATUS) {
      return params === undefined ? { method } : { method, params: this.#named(params) };
    }
    const taskId = this.#known.givenFor(params?.["taskId"]);
    return taskId === undefined ? undefined : { method, params: { ...params, taskId } };
  }

  /** Names the task of a server's message as the client does. A task that is not the client's is not named. */
  #named(value: JsonObject): JsonObject {
    return namesTask(value)
      ? withRelatedTask(value, this.#known.givenFor(relatedTaskIn(value)))
      : value;
  }

  /** @returns `undefined` for a message of a task that is not the client's. */
  async #related(value: JsonObject): Promise<JsonObject | undefined> {
    const taskId = await this.#open(relatedTaskIn(value));
    return taskId === undefined ? undefined : withRelatedTask(value, taskId);
  }

  /** The client's answer to a question; it names no task that is not the client's. */
  async answer(answer: Reply): Promise<Reply> {
    if ("error" in answer || !namesTask(answer.result)) return answer;
    const { result } = answer;
    return { result: (await this.#related(result)) ?? withRelatedTask(result, undefined) };
  }

  /** The client's notification; it names no task that is not the client's. */
  async notice(notice: Call): Promise<Call> {
    const { method, params } = notice;
    if (!namesTask(params)) return notice;
    const own = (await this.#related(params)) ?? withRelatedTask(params, undefined);
    return { method, params: own };
  }

  /** A question of an earlier life. */
  question({ resumeToken, wait }: OpenQuestion): OpenQuestion {
    return {
      resumeToken,
      wait: async (...until) => this.answer(await wait(...until)),
    };
  }
}
