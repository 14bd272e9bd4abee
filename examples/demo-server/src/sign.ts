// A binary resource: the sign above the door, a pixel drawing encoded as PNG when it is read.

import type { McpServer } from "@modelcontextprotocol/server";

const SIGN = [
  "................",
  ".....w...w......",
  "....w...w.......",
  ".....w...w......",
  "....w...w.......",
  "................",
  "..rrrrrrrrrr....",
  "..rggggggggrrr..",
  "..rrrrrrrrrr.rr.",
  "..rrryrrrrrr..r.",
  "..rryyyrrrrr.rr.",
  "..rrryrrrrrrrr..",
  "...rrrrrrrr.....",
  "....rrrrrr......",
  ".bbbbbbbbbbbb...",
  "................",
];
const NIGHT = [0x1f, 0x24, 0x3a];
const COLOURS: Record<string, readonly number[]> = {
  ".": NIGHT,
  w: [0xc9, 0xd2, 0xe3],
  r: [0xc8, 0x4b, 0x31],
  g: [0x8a, 0xa6, 0x4a],
  y: [0xf4, 0xc9, 0x5d],
  b: [0x7b, 0x55, 0x3c],
};
const SCALE = 8;
const SIZE = SIGN.length * SCALE;
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function registerSign(server: McpServer): void {
  server.registerResource(
    "sign",
    "teahouse://sign",
    { title: "The sign", description: "The sign above the door.", mimeType: "image/png" },
    async (uri) => {
      const blob = btoa(String.fromCharCode(...(await drawSign())));
      return { contents: [{ uri: uri.href, mimeType: "image/png", blob }] };
    },
  );
}

/** A PNG is a signature and a few chunks: the header, the compressed pixels, the end. */
async function drawSign(): Promise<number[]> {
  const header = [...bigEndian(SIZE), ...bigEndian(SIZE), 8, 2, 0, 0, 0];
  const pixels: number[] = [];
  for (let y = 0; y < SIZE; y++) {
    // Every line starts with the number of its filter; 0 is none.
    pixels.push(0);
    for (let x = 0; x < SIZE; x++) {
      const dot = SIGN[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ?? ".";
      pixels.push(...(COLOURS[dot] ?? NIGHT));
    }
  }
  const raw = new Blob([new Uint8Array(pixels)]).stream();
  const deflated = raw.pipeThrough(new CompressionStream("deflate"));
  const data = [...new Uint8Array(await new Response(deflated).arrayBuffer())];
  return [...PNG_SIGNATURE, ...chunk("IHDR", header), ...chunk("IDAT", data), ...chunk("IEND", [])];
}

function chunk(type: string, data: readonly number[]): number[] {
  const body = [...new TextEncoder().encode(type), ...data];
  return [...bigEndian(data.length), ...body, ...bigEndian(crc32(body))];
}

function bigEndian(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}

function crc32(bytes: readonly number[]): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
