/**
 * The audit events with their meanings, in one table, and their lines in the log. A line names people,
 * applications and addresses, and never a secret.
 */

import { cleanText } from "../lib/clean-text.ts";

interface EventMeaning {
  /** As the affected user reads it. */
  readonly meaning: string;
  /** The event is a refusal, or looks like an attack. */
  readonly isDenial?: true;
}

export const AUDIT_EVENTS = {
  signed_in: { meaning: "Signed in" },
  sign_in_denied: { meaning: "A sign-in was refused", isDenial: true },
  signed_out: { meaning: "Signed out" },
  session_ended: { meaning: "A browser was signed out" },

  consent_approved: { meaning: "An application was approved" },
  consent_denied: { meaning: "An application was turned away" },
  approval_forgotten: { meaning: "An approval was forgotten" },
  grant_created: { meaning: "An application was connected" },
  grant_revoked: { meaning: "An application was disconnected" },
  token_refreshed: { meaning: "An application renewed its access" },
  token_revoked: { meaning: "An application gave its access back" },
  refresh_reuse: { meaning: "A token came back after it was replaced", isDenial: true },
  code_reuse: { meaning: "A code was sent twice", isDenial: true },
  provider_ended: { meaning: "The sign-in provider ended the session", isDenial: true },
  provider_answer_lost: {
    meaning: "The answer of the sign-in provider was lost; sign in again soon",
  },
  denied: { meaning: "A request was refused", isDenial: true },

  key_created: { meaning: "An API key was created" },
  key_used: { meaning: "An API key was used" },
  key_revoked: { meaning: "An API key was revoked" },
  everything_revoked: { meaning: "Everything was revoked" },

  account_connected: { meaning: "An account at a server was connected" },
  account_not_connected: { meaning: "An account at a server was not connected" },
  account_refresh_failed: {
    meaning: "The access of an account at a server could not be renewed",
    isDenial: true,
  },
  account_moved: { meaning: "A server has moved to another authorization server", isDenial: true },
  account_disconnected: { meaning: "An account at a server was disconnected" },

  published_ended: { meaning: "A published server was ended" },
  published_paused: { meaning: "A published server was paused" },
  published_resumed: { meaning: "A published server was resumed" },

  tool_tried: { meaning: "A tool was run on the page that shows it" },

  server_switched_off: { meaning: "Switched a server off" },
  server_switched_on: { meaning: "Switched a server on" },
  tool_denied: { meaning: "Denied a tool to everybody" },
  tool_allowed: { meaning: "Allowed a tool again" },
  server_checked: { meaning: "Had a server looked at" },

  server_added: { meaning: "Added a server" },
  server_edited: { meaning: "Changed an added server" },
  server_probed: { meaning: "Had an added server looked at" },
  server_served: { meaning: "Had an added server served" },
  server_paused: { meaning: "Paused an added server" },
  server_removed: { meaning: "Removed an added server" },

  accounts_sealed: { meaning: "Sealed all accounts at servers anew" },

  user_disabled: { meaning: "Was disabled by an administrator", isDenial: true },
  user_enabled: { meaning: "Was enabled by an administrator" },
  client_deleted: { meaning: "Deleted an application for everybody" },
  service_client_created: { meaning: "Created a service client" },
  service_client_revoked: { meaning: "Revoked a service client" },
  service_token_issued: { meaning: "A service client got a token" },
} as const satisfies Record<string, EventMeaning>;

export type AuditEvent = keyof typeof AUDIT_EVENTS;

/** The fields of a line beside the user and the event. No other field reaches a log. */
type AuditField =
  | "account"
  | "address"
  | "agent"
  | "application"
  | "by"
  | "client"
  | "issuer"
  | "key"
  | "label"
  | "provider"
  | "reason"
  | "reference"
  | "resource"
  | "scopes"
  | "server"
  | "tool"
  | "user";

export type AuditDetail = Readonly<Partial<Record<AuditField, string>>>;

const MAX_VALUE_CHARS = 200;

/** Cleans untrusted values for one line: they cannot start another line. */
export function cleanDetail(detail: AuditDetail): AuditDetail {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, cleanText(value, MAX_VALUE_CHARS)]),
  );
}

/** @param user the id of a user or service client; empty when none is known. */
export function auditLine(user: string, event: AuditEvent, detail: AuditDetail = {}): void {
  const line = { event: "audit", what: event, user: cleanText(user), ...cleanDetail(detail) };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.log(JSON.stringify(line));
}
