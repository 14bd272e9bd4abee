/** The composition root: the Worker's default export and the Durable Object classes. */

import { SessionObject } from "../durable-objects/session-object.ts";
import { createApp } from "./app.ts";
import { sessionsIn } from "../durable-objects/sessions-in.ts";

export { SessionObject };

export default createApp((env) => sessionsIn(env.SESSIONS));
