/**
 * The stored interests of the branches. A topic is either promised to a branch, or the branch gets only
 * the changes that the gateway finds out by itself: that is so of the lists of a server that does not
 * announce them. A request without an answer yet is not stored.
 */

import type { Sql } from "../../lib/sql.ts";
import type { Topic } from "../../catalog/feeds.ts";
import { uriOf } from "../../catalog/topics.ts";

/** A longer URI is not watched: no URI that people or models read is that long. In characters. */
export const MAX_URI_CHARS = 2048;
/** Total of the URIs watched at one server: a modern one gets them all in one request. In characters. */
export const MAX_URIS_CHARS = 1024 * 1024;
/** A longer URI in an update is ignored. It may exceed `MAX_URI_CHARS`, as a part of a wanted resource. */
const MAX_UPDATED_CHARS = 8192;
const BOUNDARIES = ["/", "?", "#"];
/** A URI of more levels is taken for an attempt to keep the gateway busy. */
const MAX_LEVELS = 64;

type Standing = "asked" | "promised" | "unpromised";

export class TopicInterest {
  readonly #sql: Sql;
  readonly #topics = new Map<Topic, Map<number, Standing>>();
  readonly #uris = new Set<string>();
  #uriChars = 0;
  readonly #uriCounts = new Map<number, number>();
  /** Topics that the server is to be watched for. */
  readonly #atStake = new Set<Topic>();

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS wanted_1 (
        topic TEXT NOT NULL, branch INTEGER NOT NULL, is_promised INTEGER NOT NULL,
        PRIMARY KEY (topic, branch)
      ) WITHOUT ROWID`,
    );
    const rows = sql.exec<{ topic: Topic; branch: number; is_promised: number }>(
      "SELECT topic, branch, is_promised FROM wanted_1",
    );
    for (const { topic, branch, is_promised: isPromised } of rows) {
      this.#set(topic, branch, isPromised === 1 ? "promised" : "unpromised");
    }
  }

  /** The resources that any branch wants. This set is live. */
  get uris(): ReadonlySet<string> {
    return this.#uris;
  }

  /** The total length of `uris`, in characters. */
  get uriChars(): number {
    return this.#uriChars;
  }

  /** @returns the number of resources that a branch wants. */
  uriCountOf(branch: number): number {
    return this.#uriCounts.get(branch) ?? 0;
  }

  /** The number of topics that the server is to be watched for. */
  get countAtStake(): number {
    return this.#atStake.size;
  }

  has(topic: Topic): boolean {
    return this.#topics.has(topic);
  }

  isWantedBy(branch: number, topic: Topic): boolean {
    return this.#topics.get(topic)?.has(branch) === true;
  }

  /** The branches that want anything. */
  get branches(): ReadonlySet<number> {
    return new Set([...this.#topics.values()].flatMap((branches) => [...branches.keys()]));
  }

  branchesOf(topic: Topic): Iterable<number> {
    return this.#topics.get(topic)?.keys() ?? [];
  }

  isPromised(topic: Topic): boolean {
    const standings = this.#topics.get(topic)?.values() ?? [];
    return [...standings].includes("promised");
  }

  isPromisedTo(branch: number, topic: Topic): boolean {
    return this.#topics.get(topic)?.get(branch) === "promised";
  }

  /** @returns the topics that are promised to any branch. */
  promised(): Topic[] {
    return [...this.#atStake].filter((topic) => this.isPromised(topic));
  }

  /** Records that the branch wants the topic; an earlier promise stays valid. */
  ask(branch: number, topic: Topic): void {
    if (!this.isPromisedTo(branch, topic)) this.#set(topic, branch, "asked");
  }

  /** Records the answer to a request; ignored if the branch does not want the topic any more. */
  answer(branch: number, topic: Topic, standing: "promised" | "unpromised"): void {
    const before = this.#topics.get(topic)?.get(branch);
    if (before === undefined || before === standing) return;
    this.#set(topic, branch, standing);
    this.#sql.exec(
      "INSERT OR REPLACE INTO wanted_1 (topic, branch, is_promised) VALUES (?, ?, ?)",
      topic,
      branch,
      standing === "promised" ? 1 : 0,
    );
  }

  /** @returns whether it was wanted until now. */
  remove(branch: number, topic: Topic): boolean {
    const branches = this.#topics.get(topic);
    if (branches?.has(branch) !== true) return false;
    branches.delete(branch);
    this.#countUri(branch, topic, -1);
    if (branches.size === 0) this.#topics.delete(topic);
    this.#weigh(topic);
    this.#sql.exec("DELETE FROM wanted_1 WHERE topic = ? AND branch = ?", topic, branch);
    return true;
  }

  #set(topic: Topic, branch: number, standing: Standing): void {
    const branches = this.#topics.get(topic) ?? new Map<number, Standing>();
    if (!branches.has(branch)) this.#countUri(branch, topic, 1);
    branches.set(branch, standing);
    this.#topics.set(topic, branches);
    this.#weigh(topic);
  }

  #weigh(topic: Topic): void {
    const branches = this.#topics.get(topic);
    const isAtStake = [...(branches?.values() ?? [])].some((standing) => standing !== "unpromised");
    if (isAtStake) this.#atStake.add(topic);
    else this.#atStake.delete(topic);
    const uri = uriOf(topic);
    if (uri === undefined) return;
    if (this.#uris.has(uri) === (branches !== undefined)) return;
    this.#uriChars += branches === undefined ? -uri.length : uri.length;
    if (branches === undefined) this.#uris.delete(uri);
    else this.#uris.add(uri);
  }

  #countUri(branch: number, topic: Topic, by: 1 | -1): void {
    if (uriOf(topic) === undefined) return;
    const count = this.uriCountOf(branch) + by;
    if (count === 0) this.#uriCounts.delete(branch);
    else this.#uriCounts.set(branch, count);
  }
}

/**
 * Finds the wanted resource that an update belongs to. A server may name a part of the subscribed
 * resource (`ResourceUpdatedNotification`, all revisions): then the client is notified of the resource
 * that it subscribed to, which it can read, and of which there are no more than it asked for.
 *
 * @returns the URI itself if it is wanted, else the longest wanted URI that it is a part of.
 */
export function wantedUriOf(uri: string, wanted: ReadonlySet<string>): string | undefined {
  if (wanted.has(uri)) return uri;
  if (uri.length > MAX_UPDATED_CHARS) return undefined;
  let levels = 0;
  for (let end = uri.length - 1; end > 0 && levels < MAX_LEVELS; end--) {
    if (!BOUNDARIES.includes(uri.charAt(end))) continue;
    levels += 1;
    const withBoundary = uri.slice(0, end + 1);
    if (wanted.has(withBoundary)) return withBoundary;
    const without = uri.slice(0, end);
    if (wanted.has(without)) return without;
  }
  return undefined;
}
