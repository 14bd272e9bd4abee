/**
 * Every limit of the gateway: its name, unit, default and reason, in one table. Operators override
 * them with `LIMITS`; nothing else in the code has a number of its own for the same thing.
 */

interface Limit {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly reason: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const LIMITS = {
  maxBodyBytes: {
    default: 4 * MIB,
    min: KIB,
    max: 64 * MIB,
    reason: "A message is held in memory whole; tool arguments are rarely over 1 MiB.",
  },
  maxJsonDepth: {
    default: 128,
    min: 8,
    max: 1000,
    reason:
      "Real schemas nest under 50 deep; unbounded depth is an attack on every reader after us.",
  },
  maxMessageBytes: {
    default: 16 * MIB,
    min: 64 * KIB,
    max: 64 * MIB,
    reason: "One message of an upstream; images in base64 take a few MiB, an isolate has 128.",
  },
  windowBytes: {
    default: 256 * KIB,
    min: KIB,
    max: 16 * MIB,
    reason: "How far a stream runs ahead of its reader before the upstream is made to wait.",
  },
  retentionMinutes: {
    default: 60,
    min: 1,
    max: 1440,
    reason: "How long events are kept for a client that comes back: a lunch, a meeting, a train.",
  },
  keptEventsPerStream: {
    default: 100_000,
    min: 10,
    max: 10_000_000,
    reason: "A call that says more than this says it to nobody who could still read it.",
  },
  keptBytesPerStream: {
    default: 1024 * MIB,
    min: KIB,
    max: 4096 * MIB,
    reason: "What one stream may have in the log; a call whose stream outgrows it is ended.",
  },
  keptBytesPerSession: {
    default: 4096 * MIB,
    min: KIB,
    max: 8192 * MIB,
    reason: "The platform gives one session's storage 10 GB; the oldest finished streams go first.",
  },
  keptStreamsPerSession: {
    default: 256,
    min: 1,
    max: 10_000,
    reason: "Finished streams whose last events can still be fetched.",
  },
  openStreamsPerSession: {
    default: 100,
    min: 1,
    max: 1000,
    reason: "A client needs one for each call that runs and one for notifications.",
  },
  streamOpensPerMinute: {
    default: 300,
    min: 1,
    max: 10_000,
    reason: "A client that reconnects in a loop is a bug; each time wakes its session.",
  },
  requestsInFlightPerSession: {
    default: 200,
    min: 1,
    max: 10_000,
    reason: "Each holds a connection to the upstream.",
  },
  keepAliveSeconds: {
    default: 15,
    min: 1,
    max: 300,
    reason: "Proxies cut streams that are silent for 30 to 60 s; a gone client is noticed in two.",
  },
  callKeepAliveSeconds: {
    default: 1,
    min: 1,
    max: 300,
    reason:
      "A client of 2026-07-28 cancels by hanging up; a write shows that, or two through a proxy: two seconds at most.",
  },
  streamAfterSeconds: {
    default: 1,
    min: 0,
    max: 60,
    reason:
      "An answer that takes longer becomes a stream, which is kept alive and can be cancelled: no write, and so no cancellation, comes before it.",
  },
  stallSeconds: {
    default: 60,
    min: 1,
    max: 3600,
    reason: "A reader that takes nothing for this long loses its connection; it can resume.",
  },
  quietSeconds: {
    default: 5,
    min: 1,
    max: 3600,
    reason: "A session whose streams were quiet for this long may sleep beside them.",
  },
  lingerSeconds: {
    default: 60,
    min: 0,
    max: 3600,
    reason: "A client whose stream broke is back within seconds; until then its server is heard.",
  },
  holdSeconds: {
    default: 300,
    min: 1,
    max: 86_400,
    reason:
      "A client that can poll is let go after this, and comes back for the rest of its answer.",
  },
  askSeconds: {
    default: 600,
    min: 1,
    max: 86_400,
    reason: "A person may have to read and decide.",
  },
  retryMilliseconds: {
    default: 1000,
    min: 100,
    max: 60_000,
    reason: "How long a client should wait before it reconnects.",
  },
  sessionDays: {
    default: 365,
    min: 1,
    max: 3650,
    reason: "How long a session id is served; a client that comes back later opens a new session.",
  },
  accessTokenMinutes: {
    default: 60,
    min: 1,
    max: 1440,
    reason:
      "Some clients forget to refresh while they are idle; a stolen token is good for this long.",
  },
  refreshIdleDays: {
    default: 30,
    min: 1,
    max: 365,
    reason: "An application that was not used for this long has to ask its user again.",
  },
  grantDays: {
    default: 180,
    min: 1,
    max: 3650,
    reason: "A person is asked anew this long after a sign-in, however busy the application is.",
  },
  unprovenSignInHours: {
    default: 24,
    min: 0,
    max: 720,
    reason:
      "A provider's answer that was lost in a crash ends nothing for this long after its last one.",
  },
  codeSeconds: {
    default: 120,
    min: 10,
    max: 600,
    reason: "From the redirect to the exchange it takes a client a second or two.",
  },
  refreshReplaySeconds: {
    default: 30,
    min: 0,
    max: 60,
    reason: "Processes that share a token refresh it together, and answers get lost on the way.",
  },
  grantsPerClient: {
    default: 10,
    min: 1,
    max: 1000,
    reason: "One application on several machines of one user; the oldest sign-in goes first.",
  },
  bearerCacheSeconds: {
    default: 5,
    min: 0,
    max: 60,
    reason: "A token that was revoked is served for this long at the most.",
  },
  registrationsPerMinute: {
    default: 20,
    min: 1,
    max: 100_000,
    reason: "For each address; the machines of a large client share one.",
  },
  registrationsPerDay: {
    default: 2000,
    min: 8,
    max: 10_000_000,
    reason: "For everybody; above it, only local and well-known applications can register.",
  },
  registrationsPerAddressPerDay: {
    default: 200,
    min: 1,
    max: 10_000_000,
    reason: "So that it takes many addresses to use up the number of everybody's.",
  },
  registrationDays: {
    default: 90,
    min: 1,
    max: 3650,
    reason: "An application that exchanges tokens is renewed; others are forgotten after this.",
  },
  unusedRegistrationHours: {
    default: 24,
    min: 1,
    max: 8760,
    reason: "An application that registers and never gets a token is a probe.",
  },
  documentsPerMinute: {
    default: 30,
    min: 1,
    max: 100_000,
    reason: "Documents of applications that one address can make us load.",
  },
  attemptsPerMinute: {
    default: 60,
    min: 1,
    max: 100_000,
    reason: "Attempts to sign in from one address; a person makes one or two.",
  },
  attemptMinutes: {
    default: 10,
    min: 1,
    max: 60,
    reason: "A person may have to find their phone.",
  },
  codeTries: {
    default: 5,
    min: 1,
    max: 1000,
    reason: "Wrong owner's codes from one address in a quarter of an hour.",
  },
  tokenFailuresPerMinute: {
    default: 60,
    min: 1,
    max: 100_000,
    reason: "Failed requests for tokens from one address; guessing a secret takes many more.",
  },
  serviceTokensPerMinute: {
    default: 60,
    min: 1,
    max: 100_000,
    reason: "Tokens of one service client; each is good for an hour, so one is enough.",
  },
  browserSessionHours: {
    default: 12,
    min: 1,
    max: 720,
    reason: "A working day; whoever comes back tomorrow signs in again.",
  },
  browserIdleMinutes: {
    default: 120,
    min: 5,
    max: 43_200,
    reason: "A browser that was left alone for this long may be somebody else's now.",
  },
  freshSignInMinutes: {
    default: 10,
    min: 1,
    max: 720,
    reason: "What gives lasting access asks for a sign-in that is no older than this.",
  },
  apiKeyDays: {
    default: 90,
    min: 1,
    max: 365,
    reason: "An API key that nobody renews is an API key that nobody remembers.",
  },
  apiKeysPerUser: {
    default: 50,
    min: 1,
    max: 10_000,
    reason: "One for each program; more than this are left behind by something that makes them.",
  },
  leaseSeconds: {
    default: 30,
    min: 1,
    max: 3600,
    reason: "A stream that is open for this long is told when its token is revoked.",
  },
  nameChars: {
    default: 45,
    min: 24,
    max: 128,
    reason: "Model APIs take 64; clients put `mcp__<their name of the gateway>__` in front.",
  },
  listPageItems: {
    default: 1000,
    min: 1,
    max: 10_000,
    reason: "Some clients read the first page alone, so it is a long one.",
  },
  listPageBytes: {
    default: 2 * MIB,
    min: KIB,
    max: 16 * MIB,
    reason: "A page is put together in memory.",
  },
  catalogItems: {
    default: 20_000,
    min: 1,
    max: 1_000_000,
    reason: "In each list of one server; what is beyond is left out, and the user is told.",
  },
  catalogBytes: {
    default: 8 * MIB,
    min: KIB,
    max: 28 * MIB,
    reason:
      "One catalog: ten thousand tools of 800 characters. It travels between objects in one piece, and those are of 32 MiB at most; an isolate of 128 MiB holds those of several servers.",
  },
  catalogPages: {
    default: 1000,
    min: 1,
    max: 100_000,
    reason: "A list that has more is taken for one that has no end.",
  },
  catalogSeconds: {
    default: 20,
    min: 1,
    max: 600,
    reason:
      "For all lists of one server; nobody waits for it that long, but its next reader has it.",
  },
  catalogWaitMilliseconds: {
    default: 3000,
    min: 0,
    max: 60_000,
    reason: "How long a list waits for a server that is slow before it goes on without news of it.",
  },
  catalogFreshSeconds: {
    default: 10,
    min: 0,
    max: 3600,
    reason: "For servers that do not say how long their lists are good, and tell of no changes.",
  },
  staleCatalogHours: {
    default: 24,
    min: 0,
    max: 720,
    reason: "How long the tools of a server stay listed that is not to be had.",
  },
  keptCatalogsPerServer: {
    default: 12,
    min: 1,
    max: 100,
    reason: "One for each revision and set of capabilities in use.",
  },
  subscribedUrisPerClient: {
    default: 1000,
    min: 1,
    max: 100_000,
    reason: "Each is looked through for each piece of news.",
  },
  listenStreamsPerPrincipal: {
    default: 100,
    min: 1,
    max: 100_000,
    reason: "Of `subscriptions/listen`, in each isolate; a client needs one for each connection.",
  },
  subscribedUrisPerServer: {
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason: "All clients together; a legacy server gets a request for each.",
  },
  newsMilliseconds: {
    default: 100,
    min: 0,
    max: 10_000,
    reason: "What changes more often than this is told once.",
  },
  requestsPerMinute: {
    default: 6000,
    min: 1,
    max: 10_000_000,
    reason:
      "Of one person with all of their applications, in each isolate; an agent at full speed makes 600.",
  },
  streamsPerPerson: {
    default: 500,
    min: 1,
    max: 100_000,
    reason:
      "Streams opened with GET, and as many requests that run with POST, in each isolate; an application needs one and a few, and an isolate has 128 MiB for everybody.",
  },
  requestsPerMinutePerServer: {
    default: 60_000,
    min: 1,
    max: 10_000_000,
    reason: "Of all principals, in each isolate.",
  },
  requestsInFlightPerServer: {
    default: 500,
    min: 1,
    max: 10_000,
    reason: "In each isolate; a server that hangs must not use up the memory of the others.",
  },
  resultBytes: {
    default: 8 * MIB,
    min: KIB,
    max: 64 * MIB,
    reason:
      "A larger result is replaced by an error that says so: no client can show it to a model.",
  },
  failuresBeforePause: {
    default: 5,
    min: 1,
    max: 1000,
    reason:
      "In a row, without a connection or for two users; then callers are told at once for a while.",
  },
  pauseSeconds: {
    default: 5,
    min: 1,
    max: 600,
    reason: "The first pause; each that follows is twice as long, up to a minute.",
  },
  parkedSeconds: {
    default: 300,
    min: 1,
    max: 3600,
    reason:
      "People decide in a minute or two; a server is held back for a client that never comes back.",
  },
  parkedCalls: {
    default: 1000,
    min: 1,
    max: 10_000,
    reason:
      "Of one principal's clients at one server that can be asked the same; each holds a connection.",
  },
  bridgeIdleMinutes: {
    default: 10,
    min: 1,
    max: 1440,
    reason:
      "After this, a session that nobody uses is closed at its server; the next call opens another.",
  },
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
