/**
 * How the events of one call come to its client, as small as it can be told: a server that can be resumed, the
 * object with its log, the Worker that reads the stream for the client, and the client. `docs/design/delivery.md`
 * says it in words. Every action is possible whenever its condition holds, in any order.
 *
 * Events are numbers from 1 to `EVENTS`, and the last one is the answer. The gateway adds an event of its own, 0,
 * at a place that differs from one life of the object to the next, as a question that waited does. A place is the
 * number of an event in the log, from 1 on: what event ids name.
 */

export const EVENTS = 2;

/** A promise of the protocol that can be broken on purpose, to see that the exploration finds it. */
export interface Broken {
  /** The end of an old reader detaches the reader that came after it. */
  readonly lateEndsReachSuccessors?: boolean;
  /** Events are sent before they are safe in the log. */
  readonly sendsAtOnce?: boolean;
  /** A reader that comes back late closes the newer one. */
  readonly oldReadersWin?: boolean;
  /** After a restart, the server's stream is taken up from its beginning. */
  readonly forgetsPlace?: boolean;
  /** A client's place counts what was sent to it, not what it says that it has. */
  readonly trustsSent?: boolean;
  /** A life that begins does not look for calls of an earlier one. */
  readonly revivesNothing?: boolean;
}

type Placed = readonly [place: number, event: number];

/** A connection from the object to a Worker that holds the client's stream. */
interface Reader {
  /** Later ones were opened later by the client. */
  readonly age: number;
  /** Sent, and not yet taken by the Worker: each event with its place. */
  readonly pipe: readonly Placed[];
  /** The place of the last event that the Worker passed to the client. */
  readonly passed: number;
  /** `broken`: the object is gone, or has closed it; what is in the pipe still comes. */
  readonly state: "open" | "broken";
}

export interface State {
  /** Events that the server has made. */
  readonly made: number;
  /** How far the object has received, while its connection to the server is open. */
  readonly receiving: number | "closed";
  /** The object's log: the events in it, and how many of them are safe. */
  readonly log: readonly number[];
  readonly safe: number;
  /** The object has no memory: the next that asks for it begins a life. */
  readonly isAsleep: boolean;
  /** The event of the gateway's own has not been written yet. */
  readonly hasNote: boolean;
  /** The reader that the object sends to, by age, and the place of the last event sent to it. */
  readonly attached: number | undefined;
  readonly sent: number;
  readonly readers: readonly Reader[];
  /** Readers whose clients have gone, which their Workers do not know yet. */
  readonly left: readonly number[];
  /** Readers whose Workers say so, which the object does not know yet. */
  readonly gone: readonly number[];
  /** What the client has, in the order in which it came, and the place of the last. */
  readonly got: readonly number[];
  readonly has: number;
  /** The age of the reader that the client hears. */
  readonly hears: number | undefined;
  readonly opened: number;
  readonly restartsLeft: number;
  readonly clientCutsLeft: number;
  readonly serverCutsLeft: number;
}

/** What may go wrong, and how often. */
export interface Budget {
  readonly restarts: number;
  readonly clientCuts: number;
  readonly serverCuts: number;
}

export function startWith({ restarts, clientCuts, serverCuts }: Budget): State {
  return {
    made: 0,
    receiving: 0,
    log: [],
    safe: 0,
    isAsleep: false,
    hasNote: true,
    attached: 1,
    sent: 0,
    readers: [{ age: 1, pipe: [], passed: 0, state: "open" }],
    left: [],
    gone: [],
    got: [],
    has: 0,
    hears: 1,
    opened: 1,
    restartsLeft: restarts,
    clientCutsLeft: clientCuts,
    serverCutsLeft: serverCuts,
  };
}

export interface Action {
  readonly name: string;
  readonly next: State;
}

/** @returns every step that can be taken from a state. */
export function actionsFrom(state: State, broken: Broken = {}): Action[] {
  const actions: Action[] = [];
  const can = (name: string, change: Partial<State>): void => {
    actions.push({ name, next: send({ ...state, ...change }, broken) });
  };
  const { made, receiving, log, safe, isAsleep, readers, got, hears, attached } = state;

  if (made < EVENTS) can(`the server makes ${made + 1}`, { made: made + 1 });

  if (!isAsleep && receiving !== "closed" && receiving < made) {
    const event = receiving + 1;
    can(`the object writes ${event}`, { receiving: event, log: [...log, event] });
  }
  if (!isAsleep && receiving === "closed") {
    can("the object takes the server's stream up", { receiving: lastOf(log) });
  }
  if (!isAsleep && state.hasNote && lastOf(log) < EVENTS) {
    can("the object writes an event of its own", { hasNote: false, log: [...log, 0] });
  }
  if (safe < log.length) can(`${safe + 1} entries of the log are safe`, { safe: safe + 1 });

  for (const reader of readers) {
    const [first, ...pipe] = reader.pipe;
    const others = readers.filter(({ age }) => age !== reader.age);
    if (first !== undefined) {
      const [place, event] = first;
      const heard = hears === reader.age ? { has: place, got: [...got, event] } : {};
      const changed = { ...reader, pipe, passed: place };
      can(`reader ${reader.age} passes ${event} on`, {
        ...heard,
        readers: sorted([...others, changed]),
      });
    } else if (reader.state === "broken") {
      // The Worker asks the object for the stream again, if its client is still there.
      can(`reader ${reader.age} comes back`, comeBack(state, reader, broken));
    }
  }

  if (hears !== undefined && !isDone(state) && state.clientCutsLeft > 0) {
    can("the client's connection breaks", {
      hears: undefined,
      left: [...state.left, hears],
      clientCutsLeft: state.clientCutsLeft - 1,
    });
  }
  if (hears === undefined && !isDone(state)) {
    const age = state.opened + 1;
    const place = broken.trustsSent === true ? state.sent : state.has;
    const reader: Reader = { age, pipe: [], passed: place, state: "open" };
    can(`the client resumes after ${place}`, {
      ...wake(state, broken),
      hears: age,
      opened: age,
      attached: age,
      sent: place,
      readers: sorted([...readers.filter((one) => one.age !== attached), reader]),
    });
  }
  for (const age of state.left) {
    const left = state.left.filter((one) => one !== age);
    can(`the Worker learns that the client of reader ${age} has gone`, {
      left,
      gone: isAsleep ? state.gone : [...state.gone, age],
    });
  }
  for (const age of state.gone) {
    const isReached = attached === age || broken.lateEndsReachSuccessors === true;
    can(`the object learns that reader ${age} has gone`, {
      gone: state.gone.filter((one) => one !== age),
      attached: isReached ? undefined : attached,
      readers: readers.filter((one) => one.age !== age),
    });
  }

  if (!isAsleep && state.restartsLeft > 0) {
    for (let kept = safe; kept <= log.length; kept += 1) {
      can(`the object dies, and its disk has ${kept} of ${log.length}`, {
        ...asleep(state, kept),
        hasNote: !log.slice(0, kept).includes(0),
        restartsLeft: state.restartsLeft - 1,
      });
    }
  }
  // By the alarm that runs beside every call.
  if (isAsleep) can("the object's alarm begins a life", wake(state, broken));

  if (receiving !== "closed" && state.serverCutsLeft > 0 && !isAsleep) {
    const serverCutsLeft = state.serverCutsLeft - 1;
    can("the connection to the server breaks", { receiving: "closed", serverCutsLeft });
  }
  return actions;
}

/** The client has the answer. */
function isDone({ got }: State): boolean {
  return got.at(-1) === EVENTS;
}

/** The object sends all that is safe to the reader that it has, in the same turn. */
function send(state: State, { sendsAtOnce = false }: Broken): State {
  const { isAsleep, attached, log, safe } = state;
  const reader = state.readers.find(({ age }) => age === attached);
  if (isAsleep || reader === undefined) return state;
  const end = sendsAtOnce ? log.length : safe;
  const events = log.slice(state.sent, end).map((event, index): Placed => {
    return [state.sent + index + 1, event];
  });
  if (events.length === 0) return state;
  const changed = { ...reader, pipe: [...reader.pipe, ...events] };
  const others = state.readers.filter((one) => one !== reader);
  return { ...state, sent: end, readers: sorted([...others, changed]) };
}

/** What is left when the memory of the object goes: its disk, and connections that are broken now. */
function asleep({ log, readers }: State, kept: number): Partial<State> {
  return {
    isAsleep: true,
    receiving: "closed",
    log: log.slice(0, kept),
    safe: kept,
    attached: undefined,
    sent: 0,
    gone: [],
    readers: readers.map((reader) => ({ ...reader, state: "broken" as const })),
  };
}

/** A life begins, and takes up at the server what an earlier one had begun. */
function wake({ isAsleep, log, receiving }: State, broken: Broken): Partial<State> {
  if (!isAsleep) return {};
  if (broken.revivesNothing === true) return { isAsleep: false, receiving: EVENTS };
  const place = broken.forgetsPlace === true ? 0 : lastOf(log);
  return { isAsleep: false, receiving: receiving === "closed" ? place : receiving };
}

function comeBack(state: State, reader: Reader, broken: Broken): Partial<State> {
  const others = state.readers.filter(({ age }) => age !== reader.age);
  // Its Worker knows that the client has left: nobody asks for it again.
  const isLeft = state.hears !== reader.age && !state.left.includes(reader.age);
  if (isLeft) return { readers: others };
  const isOlder = state.attached !== undefined && state.attached > reader.age;
  if (isOlder && broken.oldReadersWin !== true) return { readers: others };
  return {
    ...wake(state, broken),
    attached: reader.age,
    sent: reader.passed,
    readers: sorted([...others, { ...reader, state: "open" as const }]),
  };
}

/** The last event of the server in the log: where its stream is taken up. */
function lastOf(log: readonly number[]): number {
  return log.findLast((event) => event !== 0) ?? 0;
}

function sorted(readers: readonly Reader[]): readonly Reader[] {
  return readers.toSorted((a, b) => a.age - b.age);
}
