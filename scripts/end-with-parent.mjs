/**
 * Loaded into wrangler's processes by `npm start`: whoever is left behind by a parent that was
 * killed ends as if asked to, and takes its own children along.
 */

process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The channel must not keep a process running that has nothing else to do.
process.channel?.unref();
