/** How the gateway names itself: to clients where several servers are one, and to servers. */

import { version } from "../../package.json";

const name = "edgeway";

/** Where it asks for itself, and not for a client. */
export const CLIENT_INFO = { name, version } as const;

export const SERVER_INFO = { name, title: "Edgeway", version } as const;
