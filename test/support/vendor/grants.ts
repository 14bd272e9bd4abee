/** What an authorization server has issued: clients, codes, tokens, and the families that tokens come in. */

import { createHash, randomBytes } from "node:crypto";

import type { Family, IssuedToken, VendorClient, VendorScript, VendorUser } from "./script.ts";

/** What a code, or a token, was given for. */
export interface Approval {
  readonly user: VendorUser | undefined;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly isOffline: boolean;
}

interface Code extends Approval {
  family?: Family;
}

interface Access extends IssuedToken {
  readonly endsAt: number;
}

interface Refresh extends IssuedToken {
  readonly isOffline: boolean;
  /** How often it was used after it was replaced. */
  late: number;
}

export interface Issued {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly scopes: readonly string[];
}

/** An error of RFC 6749 section 5.2. */
export class Refused extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, description: string, status = 400) {
    super(description);
    this.code = code;
    this.status = status;
  }
}

export class Grants {
  readonly families: Family[] = [];
  readonly clients = new Map<string, VendorClient>();
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, Access>();
  readonly #refresh = new Map<string, Refresh>();

  /** Every token, the oldest first. */
  tokens(): readonly IssuedToken[] {
    return [...this.#access.values(), ...this.#refresh.values()];
  }

  code(approval: Approval): string {
    const code = `code-${newSecret()}`;
    this.#codes.set(code, { ...approval });
    return code;
  }

  hasHadCode(clientId: string, user: VendorUser): boolean {
    return [...this.#codes.values()].some(
      (code) => code.clientId === clientId && code.user === user,
    );
  }

  /** RFC 6749 section 4.1.3, RFC 7636 section 4.6. A code that comes again revokes what it gave. */
  exchange(clientId: string, parameters: URLSearchParams, script: VendorScript): Issued {
    const code = this.#codes.get(parameters.get("code") ?? "");
    if (code === undefined || code.clientId !== clientId) {
      throw new Refused("invalid_grant", "The code is unknown");
    }
    if (code.family !== undefined) {
      this.#revoke(code.family, "reuse");
      throw new Refused("invalid_grant", "The code was used before");
    }
    if (code.redirectUri !== parameters.get("redirect_uri")) {
      throw new Refused("invalid_grant", "It is another redirect URI");
    }
    const verifier = parameters.get("code_verifier") ?? "";
    if (createHash("sha256").update(verifier).digest("base64url") !== code.challenge) {
      throw new Refused("invalid_grant", "The verifier is wrong");
    }
    code.family = this.#newFamily(code.user);
    return this.#issue(code, code.family, script);
  }

  /** RFC 6749 section 6, RFC 9700 section 4.14.2. */
  refresh(clientId: string, parameters: URLSearchParams, script: VendorScript): Issued {
    const token = this.#refresh.get(parameters.get("refresh_token") ?? "");
    if (token === undefined || token.clientId !== clientId || token.state === "ended") {
      throw new Refused("invalid_grant", "The refresh token is unknown");
    }
    const family = this.#familyOf(token);
    if (token.state === "replaced" && token.late++ >= (script.graceUses ?? 0)) {
      const { rotation = "revoke-family" } = script;
      if (rotation === "revoke-family") this.#revoke(family, "reuse");
      throw new Refused("invalid_grant", "The refresh token was used before");
    }
    if (script.endsAccessTokens === true) {
      for (const one of this.#access.values()) if (one.family === family.id) one.state = "ended";
    }
    const isKept = script.rotation === "none";
    if (!isKept) token.state = "replaced";
    const issued = this.#issue({ ...token, resource: token.resource }, family, script, !isKept);
    return isKept ? { ...issued, refresh: undefined } : issued;
  }

  /** RFC 6749 section 4.4: no person, and no refresh token. */
  forClient(
    clientId: string,
    scopes: readonly string[],
    resource: string | undefined,
    script: VendorScript,
  ): Issued {
    const family = this.#newFamily(undefined);
    const approval = { clientId, user: undefined, scopes, resource, isOffline: false };
    return this.#issue(approval, family, script, false);
  }

  /** @returns the access token, if it is worth something still. */
  live(value: string): IssuedToken | undefined {
    const token = this.#access.get(value);
    return token?.state === "live" && token.endsAt > Date.now() ? token : undefined;
  }

  /** RFC 7009: a refresh token takes its family with it. */
  revokeToken(value: string): void {
    const access = this.#access.get(value);
    if (access !== undefined) access.state = "ended";
    const refresh = this.#refresh.get(value);
    if (refresh !== undefined) this.#revoke(this.#familyOf(refresh), "revocation");
  }

  expire(user?: VendorUser): void {
    for (const token of this.#access.values()) {
      if (user === undefined || token.user === user) token.state = "ended";
    }
  }

  withdraw(user?: VendorUser): void {
    for (const family of this.families) {
      if (user === undefined || family.user === user) this.#revoke(family, "test");
    }
  }

  #issue(
    of: Pick<Approval, "user" | "clientId" | "scopes" | "resource" | "isOffline">,
    family: Family,
    script: VendorScript,
    mayRefresh = true,
  ): Issued {
    const { refreshTokens = "always", expiresIn = 3600 } = script;
    const { user, clientId, scopes, resource, isOffline } = of;
    const shared = {
      ...{ user, clientId, scopes, family: family.id, state: "live" as const },
      ...(resource !== undefined && { resource }),
    };
    const access = `access-${newSecret()}`;
    const endsAt = expiresIn === null ? Infinity : Date.now() + expiresIn * 1000;
    this.#access.set(access, { ...shared, kind: "access", value: access, endsAt });
    const isGiven =
      mayRefresh && (refreshTokens === "always" || (refreshTokens === "offline" && isOffline));
    if (!isGiven) return { access, refresh: undefined, scopes };
    const refresh = `refresh-${newSecret()}`;
    this.#refresh.set(refresh, { ...shared, kind: "refresh", value: refresh, isOffline, late: 0 });
    return { access, refresh, scopes };
  }

  #newFamily(user: VendorUser | undefined): Family {
    const family: Family = { id: this.families.length, user };
    this.families.push(family);
    return family;
  }

  #familyOf({ family }: IssuedToken): Family {
    const found = this.families[family];
    if (found === undefined) throw new Error(`There is no family ${family}`);
    return found;
  }

  #revoke(family: Family, because: NonNullable<Family["revoked"]>): void {
    family.revoked ??= because;
    for (const token of this.tokens()) if (token.family === family.id) token.state = "ended";
  }
}

export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}
