/**
 * Every limit of the gateway in one table: name, unit, default and bounds, with its reason above it.
 * Operators override them with `LIMITS`; no other code has its own number for the same purpose.
 */

interface Limit {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const LIMITS = {
  /**
   * A message is held in memory whole; tool arguments are rarely over 1 MiB. It travels between objects, for which the
   * platform has 32 MiB, and two bytes for each character where one is beyond Latin-1.
   */
  maxBodyBytes: { default: 4 * MIB, min: KIB, max: 15 * MIB },
  /** Real schemas nest under 50 deep; unbounded depth is an attack on every reader after us. */
  maxJsonDepth: { default: 128, min: 8, max: 1000 },
  /** One message of an upstream; images in base64 take a few MiB, an isolate has 128. */
  maxMessageBytes: { default: 16 * MIB, min: 64 * KIB, max: 16 * MIB },
  /** The bytes by which a stream may run ahead of its reader before the upstream is made to wait. */
  windowBytes: { default: 256 * KIB, min: KIB, max: 16 * MIB },
  /** The time that events are kept for a client that comes back: a lunch, a meeting, a train. */
  retentionMinutes: { default: 60, min: 1, max: 1440 },
  /** No client could still read all that a call sends beyond this. */
  keptEventsPerStream: { default: 100_000, min: 10, max: 10_000_000 },
  /** The size of one stream in the log; a call whose stream outgrows it is ended. */
  keptBytesPerStream: { default: 1024 * MIB, min: KIB, max: 4096 * MIB },
  /** The platform gives one session's storage 10 GB; the oldest finished streams go first. */
  keptBytesPerSession: { default: 4096 * MIB, min: KIB, max: 8192 * MIB },
  /** Finished streams whose last events can still be fetched. */
  keptStreamsPerSession: { default: 256, min: 1, max: 10_000 },
  /** A client needs one for each call that runs and one for notifications. */
  openStreamsPerSession: { default: 100, min: 1, max: 1000 },
  /** A client that reconnects in a loop is a bug; each time wakes its session. */
  streamOpensPerMinute: { default: 300, min: 1, max: 10_000 },
  /** Each holds a connection to the upstream. */
  requestsInFlightPerSession: { default: 200, min: 1, max: 10_000 },
  /** Proxies cut streams that are silent for 30 to 60 s; a gone client is noticed in two. */
  keepAliveSeconds: { default: 15, min: 1, max: 300 },
  /**
   * A client of 2026-07-28 cancels by hanging up; a write shows that, or two through a proxy: two
   * seconds at most.
   */
  callKeepAliveSeconds: { default: 1, min: 1, max: 300 },
  /**
   * An answer that takes longer becomes a stream, which is kept alive and can be cancelled: no
   * write, and so no cancellation, comes before it.
   */
  streamAfterSeconds: { default: 1, min: 0, max: 60 },
  /**
   * A reader that takes nothing for this long loses its connection; it can resume. A request of a 2026-07-28 client is
   * cancelled.
   */
  stallSeconds: { default: 60, min: 1, max: 3600 },
  /** A session whose streams were quiet for this long may sleep beside them. */
  quietSeconds: { default: 5, min: 1, max: 3600 },
  /** A client whose stream broke is back within seconds; until then the watch on its server stays open. */
  lingerSeconds: { default: 60, min: 0, max: 3600 },
  /** A client that can poll is let go after this, and comes back for the rest of its answer. */
  holdSeconds: { default: 300, min: 1, max: 86_400 },
  /** A person may have to read and decide. */
  askSeconds: { default: 600, min: 1, max: 86_400 },
  /** The time that a client should wait before it reconnects. */
  retryMilliseconds: { default: 1000, min: 100, max: 60_000 },
  /** The life of a session id; a client that comes back later opens a new session. */
  sessionDays: { default: 365, min: 1, max: 3650 },
  /** Some clients forget to refresh while they are idle; a stolen token is good for this long. */
  accessTokenMinutes: { default: 60, min: 1, max: 1440 },
  /** An application that was not used for this long has to ask its user again. */
  refreshIdleDays: { default: 30, min: 1, max: 365 },
  /** A person is asked anew this long after a sign-in, however busy the application is. */
  grantDays: { default: 180, min: 1, max: 3650 },
  /** A provider's answer that was lost in a crash ends nothing for this long after its last one. */
  unprovenSignInHours: { default: 24, min: 0, max: 720 },
  /** From the redirect to the exchange it takes a client a second or two. */
  codeSeconds: { default: 120, min: 10, max: 600 },
  /** Processes that share a token refresh it together, and answers get lost on the way. */
  refreshReplaySeconds: { default: 30, min: 0, max: 60 },
  /** One application on several machines of one user; the oldest sign-in goes first. */
  grantsPerClient: { default: 10, min: 1, max: 1000 },
  /** A token that was revoked is served for this long at the most. */
  bearerCacheSeconds: { default: 5, min: 0, max: 60 },
  /** An account at a server that was disconnected is used for this long at the most. */
  credentialCacheSeconds: { default: 5, min: 0, max: 60 },
  /** For each address; the machines of a large client share one. */
  registrationsPerMinute: { default: 20, min: 1, max: 100_000 },
  /** For everybody; above it, only local and well-known applications can register. */
  registrationsPerDay: { default: 2000, min: 8, max: 10_000_000 },
  /** So that it takes many addresses to use up the number of everybody's. */
  registrationsPerAddressPerDay: { default: 200, min: 1, max: 10_000_000 },
  /** An application that exchanges tokens is renewed; others are forgotten after this. */
  registrationDays: { default: 90, min: 1, max: 3650 },
  /** An application that registers and never gets a token is a probe. */
  unusedRegistrationHours: { default: 24, min: 1, max: 8760 },
  /** Documents of applications that one address can make us load. */
  documentsPerMinute: { default: 30, min: 1, max: 100_000 },
  /** Attempts to sign in from one address; a person makes one or two. */
  attemptsPerMinute: { default: 60, min: 1, max: 100_000 },
  /** Attempts of one person to connect an account at a server; each makes the gateway send requests. */
  connectsPerMinute: { default: 20, min: 1, max: 10_000 },
  /** A person may have to find their phone. */
  attemptMinutes: { default: 10, min: 1, max: 60 },
  /** Wrong owner's codes from one address in a quarter of an hour. */
  codeTries: { default: 5, min: 1, max: 1000 },
  /** Failed requests for tokens from one address; guessing a secret takes many more. */
  tokenFailuresPerMinute: { default: 60, min: 1, max: 100_000 },
  /** Tokens of one service client; each is good for an hour, so one is enough. */
  serviceTokensPerMinute: { default: 60, min: 1, max: 100_000 },
  /** A working day; a user who comes back tomorrow signs in again. */
  browserSessionHours: { default: 12, min: 1, max: 720 },
  /** A browser that was left alone for this long may be another person's now. */
  browserIdleMinutes: { default: 120, min: 5, max: 43_200 },
  /** A page that gives lasting access requires a sign-in that is no older than this. */
  freshSignInMinutes: { default: 10, min: 1, max: 720 },
  /** An API key that is not renewed has probably been forgotten. */
  apiKeyDays: { default: 90, min: 1, max: 365 },
  /** One for each program; more than this are left behind by something that makes them. */
  apiKeysPerUser: { default: 50, min: 1, max: 10_000 },
  /** A stream that is open for this long is notified when its token is revoked. */
  leaseSeconds: { default: 30, min: 1, max: 3600 },
  /** Model APIs take 64; clients put `mcp__<their name of the gateway>__` in front. */
  nameChars: { default: 45, min: 24, max: 128 },
  /** Some clients read the first page alone, so it is a long one. */
  listPageItems: { default: 1000, min: 1, max: 10_000 },
  /** A page is put together in memory. */
  listPageBytes: { default: 2 * MIB, min: KIB, max: 16 * MIB },
  /** In each list of one server; what is beyond is left out, and the user is informed. */
  catalogItems: { default: 20_000, min: 1, max: 1_000_000 },
  /**
   * One catalog: ten thousand tools of 800 characters. It travels between objects in one piece,
   * and those are of 32 MiB at most; an isolate of 128 MiB holds those of several servers.
   */
  catalogBytes: { default: 8 * MIB, min: KIB, max: 28 * MIB },
  /** A list that has more is taken for one that has no end. */
  catalogPages: { default: 1000, min: 1, max: 100_000 },
  /** For all lists of one server; no request waits that long, but the next reader gets the result. */
  catalogSeconds: { default: 20, min: 1, max: 600 },
  /** The time that a list waits for a slow server before it goes on without it. */
  catalogWaitMilliseconds: { default: 3000, min: 0, max: 60_000 },
  /** For servers that do not say how long their lists are good, and announce no changes. */
  catalogFreshSeconds: { default: 10, min: 0, max: 3600 },
  /** The time that the tools of an unavailable server stay listed. */
  staleCatalogHours: { default: 24, min: 0, max: 720 },
  /** One for each revision and set of capabilities in use. */
  keptCatalogsPerServer: { default: 12, min: 1, max: 100 },
  /** Servers that are looked at when the gateway starts, eight at a time; the others when somebody asks. */
  looksPerStart: { default: 200, min: 0, max: 10_000 },
  /** Each is looked through for each piece of news. */
  subscribedUrisPerClient: { default: 1000, min: 1, max: 100_000 },
  /** Tasks of 2025-11-25 that a session lists, and hears of; older ones can still be asked for. */
  listedTasksPerSession: { default: 100, min: 1, max: 500 },
  /** Of `subscriptions/listen`, in each isolate; a client needs one for each connection. */
  listenStreamsPerPrincipal: { default: 100, min: 1, max: 100_000 },
  /** All clients together; a legacy server gets a request for each. */
  subscribedUrisPerServer: { default: 10_000, min: 1, max: 1_000_000 },
  /** Changes that follow one another within this time are announced once. */
  newsMilliseconds: { default: 100, min: 0, max: 10_000 },
  /**
   * Of one person with all of their applications, in each isolate; an agent at full speed makes
   * 600.
   */
  requestsPerMinute: { default: 6000, min: 1, max: 10_000_000 },
  /**
   * Streams opened with GET, and as many requests that run with POST, in each isolate; an
   * application needs one and a few, and an isolate has 128 MiB for everybody.
   */
  streamsPerPerson: { default: 500, min: 1, max: 100_000 },
  /**
   * The same of everybody, in each isolate: an idle stream takes 22 KiB of its 128 MiB, so twice this
   * number, with GET and with POST, take half of it.
   */
  streamsPerIsolate: { default: 1500, min: 1, max: 100_000 },
  /** Of all principals, in each isolate. */
  requestsPerMinutePerServer: { default: 60_000, min: 1, max: 10_000_000 },
  /** In each isolate; a server that hangs must not use up the memory of the others. */
  requestsInFlightPerServer: { default: 500, min: 1, max: 10_000 },
  /**
   * A larger result is replaced by an error that says so: no client can show it to a model. It travels as a message of
   * `maxBodyBytes` does.
   */
  resultBytes: { default: 8 * MIB, min: KIB, max: 15 * MIB },
  /** In a row, without a connection or for two users; then calls fail at once for a while. */
  failuresBeforePause: { default: 5, min: 1, max: 1000 },
  /** The first pause; each that follows is twice as long, up to a minute. */
  pauseSeconds: { default: 5, min: 1, max: 600 },
  /** People decide in a minute or two; a server is held back for a client that never comes back. */
  parkedSeconds: { default: 300, min: 1, max: 3600 },
  /**
   * Of one principal's clients at one server that can be asked the same; each holds a connection.
   */
  parkedCalls: { default: 1000, min: 1, max: 10_000 },
  /**
   * After this, an unused session is closed at its server; the next call opens another.
   */
  bridgeIdleMinutes: { default: 10, min: 1, max: 1440 },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;
export type Limits = Readonly<Record<LimitName, number>>;

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(LIMITS, name);
}

export function defaultLimits(): Limits {
  return Object.fromEntries(
    Object.entries(LIMITS).map(([name, limit]) => [name, limit.default]),
  ) as Record<LimitName, number>;
}
