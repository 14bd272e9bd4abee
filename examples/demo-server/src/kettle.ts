// A resource that changes while you watch it. The kettle heats, boils, is poured and refilled,
// round and round; its state follows from the clock, so every request sees the same kettle.

import type { McpServer } from "@modelcontextprotocol/server";

export const KETTLE_URI = "teahouse://kettle";

/** Subscribers hear about the kettle this often. */
export const KETTLE_STEP_MS = 3000;

const ROUND_MS = 60_000;
const COLD = 20;
const BOILING = 100;

interface Kettle {
  celsius: number;
  state: "heating" | "boiling" | "pouring" | "filling";
  at: string;
}

function kettleAt(time: number): Kettle {
  const part = (time % ROUND_MS) / ROUND_MS;
  const at = new Date(time).toISOString();
  // Forty seconds from cold to boiling, then a short boil, a pouring and a refill.
  const heated = Math.min(part / (2 / 3), 1);
  const celsius = Math.round(COLD + (BOILING - COLD) * heated);
  if (celsius < BOILING) return { celsius, state: "heating", at };
  if (part < 0.8) return { celsius, state: "boiling", at };
  if (part < 0.95) return { celsius: 96, state: "pouring", at };
  return { celsius: COLD, state: "filling", at };
}

export function registerKettle(server: McpServer): void {
  server.registerResource(
    "kettle",
    KETTLE_URI,
    {
      title: "The kettle",
      description: "How hot the water is right now. Subscribe to watch it come to the boil.",
      mimeType: "application/json",
    },
    (uri) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify(kettleAt(Date.now())),
        },
      ],
    }),
  );
}
