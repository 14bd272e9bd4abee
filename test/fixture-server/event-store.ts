// The events of one session, kept in memory so that a client can resume a broken stream with
// Last-Event-ID. Bounded: after a 20 MB burst not every event of it should stay.

import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const KEPT_EVENTS = 512;

interface StoredEvent {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
}

export function createEventStore(): EventStore {
  const events: StoredEvent[] = [];
  let count = 0;

  return {
    async storeEvent(streamId, message) {
      const id = `event-${++count}`;
      events.push({ id, streamId, message });
      if (events.length > KEPT_EVENTS) events.shift();
      return id;
    },

    // An id that has fallen out of the store is unknown: the SDK then refuses to resume, which is
    // better than a stream with a hole in it.
    async getStreamIdForEventId(eventId) {
      return events.find(({ id }) => id === eventId)?.streamId;
    },

    async replayEventsAfter(lastEventId, { send }) {
      const last = events.findIndex(({ id }) => id === lastEventId);
      const streamId = events[last]?.streamId;
      if (streamId === undefined) throw new Error(`unknown event ${lastEventId}`);
      for (const event of events.slice(last + 1)) {
        // The SDK stores an empty object for the event that opens a stream: nothing to replay.
        const isMessage = "jsonrpc" in event.message;
        if (isMessage && event.streamId === streamId) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}
