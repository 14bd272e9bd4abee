/** What `--only` can say. Known before the peers are installed, and to nobody's cost. */

export const ROW_NAMES = [
  ...["call-hosted-modern", "call-hosted-legacy", "call-proxied-modern", "call-proxied-legacy"],
  "call-recorded",
  ...["set-up", "events", "replay", "fan-out", "catalog", "idle", "bundle", "start-up"],
  ...["sign-in", "bill"],
] as const;

export type RowName = (typeof ROW_NAMES)[number];
