/** The paths of the pages' links and forms: the routes serve exactly these. */

export const PATHS = {
  connect: "/",
  mcpb: "/edgeway.mcpb",
  authorize: "/authorize",
  authorizeAsOther: "/authorize/switch",
  setup: "/setup",
  login: "/login",
  logout: "/logout",

  catalog: "/catalog",

  activity: "/activity",
  liveActivity: "/activity/live",
  usage: "/usage",
  usageCsv: "/usage.csv",

  account: "/account",
  revokeConnection: "/account/connections/revoke",
  forgetApproval: "/account/approvals/forget",
  endSession: "/account/sessions/end",
  createKey: "/account/keys",
  revokeKey: "/account/keys/revoke",
  endPublished: "/account/published/end",
  pausePublished: "/account/published/pause",
  resumePublished: "/account/published/resume",
  revokeAll: "/account/revoke-all",

  admin: "/admin",
  disableUser: "/admin/users/disable",
  enableUser: "/admin/users/enable",
  deleteClient: "/admin/clients/delete",
  createService: "/admin/services",
  revokeService: "/admin/services/revoke",
  sealAccounts: "/admin/accounts/seal",
  attentionJson: "/admin/attention.json",
  logins: "/admin/logins",
  adminServers: "/admin/servers",
  addServers: "/admin/servers/add",
  // Not below the others, where it would be the page of a server with that slug.
  exportServers: "/admin/export",
} as const;

/** The front page, about one client and one server; without a server, about all of them together. */
export function connectPath(client: string, server?: string): string {
  const query = new URLSearchParams({ ...(server !== undefined && { server }), client });
  return `${PATHS.connect}?${query.toString()}`;
}

export function loginPath(reference: string): string {
  return `${PATHS.logins}/${encodeURIComponent(reference)}`;
}

/** The page of one server, for whoever runs the gateway. */
export function adminServerPath(slug: string): string {
  return `${PATHS.admin}/servers/${encodeURIComponent(slug)}`;
}

/** The form that switches a server off or on. */
export function switchServerPath(slug: string): string {
  return `${adminServerPath(slug)}/switch`;
}

/** The form that denies a tool of a server, or allows it again. */
export function denyToolPath(slug: string): string {
  return `${adminServerPath(slug)}/tools`;
}

/** The form that has a server looked at now. */
export function checkServerPath(slug: string): string {
  return `${adminServerPath(slug)}/check`;
}

/** The forms of a server that an operator has added. */
export function addedServerPath(
  slug: string,
  form: "probe" | "state" | "edit" | "edit/keep" | "remove",
): string {
  return `${adminServerPath(slug)}/${form}`;
}

/** The form that ends an account at a server. */
export function disconnectPath(slug: string): string {
  return `/connect/${encodeURIComponent(slug)}/disconnect`;
}

/** Of a server, or of one of its tools. */
export function catalogPath(slug: string, tool?: string): string {
  const path = `${PATHS.catalog}/${encodeURIComponent(slug)}`;
  return tool === undefined ? path : `${path}/${encodeURIComponent(tool)}`;
}
