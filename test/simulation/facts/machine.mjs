// @ts-nocheck -- as asking.mjs
/** What `workerd:unsafe` is in workerd: the simulated machine. */

import { env } from "cloudflare:workers";

export default { evict: (stub) => env.MACHINE.evict(stub) };
