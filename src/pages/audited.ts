/**
 * Appends an action on a page to the audit log of the affected user, with the address of the
 * request.
 */

import { addressOf, type AuthContext } from "../auth/context/context.ts";
import type { AuditDetail, AuditEvent } from "../observability/audit.ts";

export function audited(
  { store }: Pick<AuthContext, "store">,
  request: Request,
  user: string,
  [event, detail]: readonly [event: AuditEvent, detail?: AuditDetail],
): Promise<void> {
  return store.ofUser(user).audit.append(user, event, { ...detail, address: addressOf(request) });
}
