/** What is done on a page, in the audit log of whom it is done to: with where it came from. */

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
