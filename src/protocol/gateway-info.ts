/** The gateway's own name: to clients of an endpoint with several servers, and to servers. */

import { version } from "../../package.json";

const name = "edgeway";

/** For requests of the gateway's own, and not of a client. */
export const CLIENT_INFO = { name, version } as const;

export const SERVER_INFO = { name, title: "Edgeway", version } as const;
