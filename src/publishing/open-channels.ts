/** The channels that are open, which outlive the memory of the object: a session is known by its channel. */

import { Records } from "../lib/records.ts";

/** All requests of the modern era at a server share one channel, which exists from the first on. */
export const SHARED_CHANNEL = "shared";

export class OpenChannels extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS channels_1 (
      server TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (server, id)
    ) WITHOUT ROWID`,
  ];

  add(server: string, id: string): void {
    this.run("INSERT OR IGNORE INTO channels_1 (server, id) VALUES (?, ?)", [server, id]);
  }

  has(server: string, id: string): boolean {
    return this.count("SELECT 1 FROM channels_1 WHERE server = ? AND id = ?", [server, id]) > 0;
  }

  of(server: string): readonly string[] {
    const rows = this.rows<{ id: string }>("SELECT id FROM channels_1 WHERE server = ?", [server]);
    return rows.map(({ id }) => id);
  }

  countOf(server: string): number {
    return this.count("SELECT 1 FROM channels_1 WHERE server = ?", [server]);
  }

  delete(server: string, id: string): void {
    this.run("DELETE FROM channels_1 WHERE server = ? AND id = ?", [server, id]);
  }

  deleteAll(server: string): void {
    this.run("DELETE FROM channels_1 WHERE server = ?", [server]);
  }
}
