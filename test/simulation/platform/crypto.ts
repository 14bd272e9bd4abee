/**
 * `crypto` with seeded randomness, and at once: what the gateway uses for every request is computed in the
 * step that asks for it. The rest is work of the host, which a step waits for.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  webcrypto,
} from "node:crypto";

import type { Random } from "./random.ts";
import type { HostWork } from "./scheduler.ts";

type Subtle = typeof webcrypto.subtle;
type Key = Parameters<Subtle["sign"]>[1];
type Bytes = ArrayBuffer | ArrayBufferView;
type Usages = Parameters<Subtle["importKey"]>[4];

interface Algorithm {
  readonly name: string;
  readonly length?: number;
  readonly hash?: string | { readonly name: string };
  readonly iv?: Bytes;
  readonly salt?: Bytes;
  readonly info?: Bytes;
  readonly additionalData?: Bytes;
}

const TAG_BYTES = 16;
const secrets = new WeakMap<Key, KeyObject>();

function secretOf(key: Key): KeyObject {
  const secret = secrets.get(key);
  if (secret === undefined) throw new Error("A key that was not made here");
  return secret;
}

export interface SimulatedCrypto {
  readonly subtle: object;
  readonly getRandomValues: <View extends ArrayBufferView>(into: View) => View;
  readonly randomUUID: () => string;
}

export function cryptoOf(host: HostWork, random: Random): SimulatedCrypto {
  const draw = <View extends ArrayBufferView>(into: View): View => {
    const view = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    for (let index = 0; index < view.length; index += 1) view[index] = random.bits() & 255;
    return into;
  };
  const subtle = new Proxy(webcrypto.subtle, {
    get: (target, name) => {
      const atOnce = AT_ONCE[name as string];
      const inHost = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => {
        if (name === "timingSafeEqual")
          return areEqual(args[0] as Uint8Array, args[1] as Uint8Array);
        if (name === "generateKey" && isSecret(args[0] as Algorithm)) {
          const [algorithm, isExtractable, usages] = args as [Algorithm, boolean, Usages];
          const raw = draw(new Uint8Array((algorithm.length ?? 256) / 8));
          return Promise.resolve(secretKey(raw, algorithm, isExtractable, usages));
        }
        const result = atOnce?.(...(args as never[]));
        return result === undefined
          ? host.do(() => inHost.apply(target, args))
          : Promise.resolve(result);
      };
    },
  });
  return {
    subtle,
    getRandomValues: draw,
    randomUUID: () => {
      const hex = Buffer.from(draw(new Uint8Array(16))).toString("hex");
      const version = `4${hex.slice(13, 16)}-a${hex.slice(17, 20)}`;
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${hex.slice(20)}`;
    },
  };
}

/** Each returns `undefined` for what the host has to do. */
const AT_ONCE: Readonly<Record<string, (...args: never[]) => unknown>> = {
  digest: (algorithm: string | Algorithm, data: Bytes) =>
    exact(createHash(hashName(algorithm)).update(bytes(data)).digest()),

  importKey: (
    format: string,
    data: Bytes,
    algorithm: string | Algorithm,
    isExtractable: boolean,
    usages: Usages,
  ) => {
    const named = typeof algorithm === "string" ? { name: algorithm } : algorithm;
    if (format !== "raw" || !isSecret(named)) return undefined;
    return secretKey(bytes(data), named, isExtractable, usages);
  },

  sign: (_: unknown, key: Key, data: Bytes) => {
    const { name, hash } = key.algorithm as Algorithm;
    if (name !== "HMAC" || hash === undefined) return undefined;
    return exact(createHmac(hashName(hash), secretOf(key)).update(bytes(data)).digest());
  },

  encrypt: ({ name, iv, additionalData }: Algorithm, key: Key, data: Bytes) => {
    if (name !== "AES-GCM" || iv === undefined) return undefined;
    const cipher = createCipheriv(gcmFor(key), secretOf(key), bytes(iv));
    if (additionalData !== undefined) cipher.setAAD(bytes(additionalData));
    const sealed = [cipher.update(bytes(data)), cipher.final()];
    return exact(Buffer.concat([...sealed, cipher.getAuthTag()]));
  },

  decrypt: ({ name, iv, additionalData }: Algorithm, key: Key, data: Bytes) => {
    if (name !== "AES-GCM" || iv === undefined) return undefined;
    const sealed = bytes(data);
    const end = sealed.length - TAG_BYTES;
    try {
      const opener = createDecipheriv(gcmFor(key), secretOf(key), bytes(iv));
      opener.setAuthTag(sealed.subarray(end));
      if (additionalData !== undefined) opener.setAAD(bytes(additionalData));
      return exact(Buffer.concat([opener.update(sealed.subarray(0, end)), opener.final()]));
    } catch {
      return Promise.reject(new DOMException("The operation failed", "OperationError"));
    }
  },

  deriveBits: (algorithm: Algorithm, key: Key, length: number) => derive(algorithm, key, length),

  deriveKey: (
    algorithm: Algorithm,
    key: Key,
    wanted: Algorithm,
    isExtractable: boolean,
    usages: Usages,
  ) => {
    const raw = derive(algorithm, key, wanted.length ?? 256);
    return raw && secretKey(new Uint8Array(raw), wanted, isExtractable, usages);
  },
};

function derive(
  { name, hash, salt, info }: Algorithm,
  key: Key,
  bits: number,
): ArrayBuffer | undefined {
  if (name !== "HKDF" || hash === undefined || salt === undefined || info === undefined)
    return undefined;
  return hkdfSync(hashName(hash), secretOf(key), bytes(salt), bytes(info), bits / 8);
}

function isSecret({ name }: Algorithm): boolean {
  return /^(?:HMAC|AES-GCM|HKDF)$/.test(name);
}

function secretKey(
  raw: Uint8Array,
  algorithm: Algorithm,
  isExtractable: boolean,
  usages: Usages,
): Key {
  const secret = createSecretKey(raw);
  const key = secret.toCryptoKey(algorithm, isExtractable, usages);
  secrets.set(key, secret);
  return key;
}

function gcmFor(key: Key): "aes-128-gcm" | "aes-256-gcm" {
  return (key.algorithm as Algorithm).length === 128 ? "aes-128-gcm" : "aes-256-gcm";
}

function hashName(hash: string | { readonly name: string }): string {
  return (typeof hash === "string" ? hash : hash.name).replace("-", "").toLowerCase();
}

function bytes(data: Bytes): Uint8Array {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function exact(buffer: Buffer): ArrayBuffer {
  return Uint8Array.from(buffer).buffer;
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) throw new TypeError("Input buffers must have the same length");
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) === 0;
}
