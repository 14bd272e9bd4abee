/** `LIMITS` of the Worker under test: small, so that a test can reach them. */

export const SMALL_LIMITS = {
  maxBodyBytes: 65_536,
  maxMessageBytes: 65_536,
  maxJsonDepth: 32,
  openStreamsPerSession: 6,
  keptStreamsPerSession: 8,
  keptBytesPerStream: 16_384,
  streamOpensPerMinute: 600,
  requestsInFlightPerSession: 4,
  keepAliveSeconds: 1,
  streamAfterSeconds: 1,
  stallSeconds: 1,
  quietSeconds: 1,
  lingerSeconds: 1,
  askSeconds: 3,
  retryMilliseconds: 100,
  bearerCacheSeconds: 1,
  leaseSeconds: 1,
  // Tests count what servers are asked.
  looksPerStart: 0,
};
