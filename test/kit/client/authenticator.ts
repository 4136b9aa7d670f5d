/** An authenticator in software: makes keys and answers challenges as browsers pass them on (W3C Web Authentication). */
import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

export type Kind = "ES256" | "EdDSA" | "RS256";

/** A page's question, and what the authenticator and the browser say falsely about it. */
export type Question = {
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly flags?: number;
  readonly more?: object;
};

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

/** CBOR of numbers, texts, bytes and lists of pairs. */
export function cbor(value: number | string | Uint8Array | readonly (readonly [number | string, unknown])[]): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const parts = value.flatMap(([name, member]) => [cbor(name), cbor(member as Uint8Array)]);
  return Buffer.concat([head(5, value.length), ...parts]);
}

function pair(kind: Kind) {
  if (kind === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  return kind === "EdDSA" ? generateKeyPairSync("ed25519") : generateKeyPairSync("rsa", { modulusLength: 2_048 });
}

export class Authenticator {
  readonly kind: Kind;
  readonly id = randomBytes(24);
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  /** Uses so far; an authenticator that counts none stays at 0. */
  count = 0;

  constructor(kind: Kind = "ES256") {
    this.kind = kind;
    this.#keys = pair(kind);
  }

  /** The answer to `navigator.credentials.create`. */
  register(question: Question): Record<string, string> {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const data = Buffer.concat([this.#data(question, 0x41), Buffer.alloc(16), length, this.id, cbor(this.#cose())]);
    const object = cbor([
      ["fmt", "none"],
      ["attStmt", []],
      ["authData", data],
    ]);
    return { clientDataJSON: b64(clientData(question, "webauthn.create")), attestationObject: b64(object) };
  }

  /** The answer to `navigator.credentials.get`. */
  answer(question: Question): Record<string, string> {
    if (this.count > 0) this.count += 1;
    const [client, data] = [clientData(question, "webauthn.get"), this.#data(question, 0x01)];
    const signed = Buffer.concat([data, sha256(client)]);
    const signature = sign(this.kind === "EdDSA" ? null : "sha256", signed, this.#keys.privateKey);
    return { id: b64(this.id), clientDataJSON: b64(client), authenticatorData: b64(data), signature: b64(signature) };
  }

  #data({ rpId = "localhost", flags }: Question, usual: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.count);
    return Buffer.concat([sha256(rpId), Buffer.from([flags ?? usual]), count]);
  }

  #cose(): readonly (readonly [number, number | Uint8Array])[] {
    const { x = "", y = "", n = "", e = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const bytes = (text: string): Uint8Array => Buffer.from(text, "base64url");
    const start = (kind: number, alg: number) =>
      [
        [1, kind],
        [3, alg],
      ] as const;
    if (this.kind === "ES256") return [...start(2, -7), [-1, 1], [-2, bytes(x)], [-3, bytes(y)]];
    if (this.kind === "EdDSA") return [...start(1, -8), [-1, 6], [-2, bytes(x)]];
    return [...start(3, -257), [-1, bytes(n)], [-2, bytes(e)]];
  }
}

function clientData({ challenge, origin, type, more }: Question, usual: string): Buffer {
  const said = { type: type ?? usual, challenge: b64(challenge), origin, crossOrigin: false, ...more };
  return Buffer.from(JSON.stringify(said));
}
