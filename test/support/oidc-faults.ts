/** ID tokens as no honest provider issues them: each made of the honest one's claims. */

import {
  type CryptoKey,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from "jose";

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

type Forge = (claims: JWTPayload, key: SigningKey) => Promise<string>;

const sign = (claims: JWTPayload, { kid, privateKey }: Pick<SigningKey, "kid" | "privateKey">) =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);

const now = (): number => Math.floor(Date.now() / 1000);

export const FAULTS = {
  "alg none": async (claims) => new UnsecuredJWT(claims).encode(),
  "HS256 with the public key": async (claims, { kid, publicKey }) => {
    const pem = new TextEncoder().encode(await exportSPKI(publicKey));
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid }).sign(pem);
  },
  "a foreign kid": async (claims) => {
    const { privateKey } = await generateKeyPair("RS256");
    return sign(claims, { kid: "foreign", privateKey });
  },
  "a foreign key": async (claims, { kid }) => {
    const { privateKey } = await generateKeyPair("RS256");
    return sign(claims, { kid, privateKey });
  },
  "another iss": (claims, key) => sign({ ...claims, iss: "https://evil.example" }, key),
  "another aud": (claims, key) => sign({ ...claims, aud: "another-client" }, key),
  "an exp that is past": (claims, key) =>
    sign({ ...claims, iat: now() - 120, exp: now() - 60 }, key),
  "another nonce": (claims, key) => sign({ ...claims, nonce: "another" }, key),
  "no nonce": (claims, key) => sign({ ...claims, nonce: undefined }, key),
} as const satisfies Record<string, Forge>;

export type Fault = keyof typeof FAULTS;
