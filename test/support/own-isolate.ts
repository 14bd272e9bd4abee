/**
 * A test file that imports this has an isolate of its own (`vitest.config.ts`), because it counts or
 * fills what all files share that run in one.
 */
export {};
