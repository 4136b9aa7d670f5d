/**
 * Checks what a browser says about an authenticator (W3C Web Authentication, level 2): a registration (7.1) and an
 * assertion (7.2). No attestation is asked for and none is believed: which key it is was decided by its owner, who
 * registered it. Everything here comes from a page, so it is read as hostile.
 */
import { type JsonWebKey, type KeyObject, createPublicKey, hash, verify } from "node:crypto";
import { type Json, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { type Cbor, type CborMap, readCbor } from "./cbor.ts";

/** A registered key. `alg`: ES256 -7, EdDSA -8, RS256 -257 (COSE). */
export type Credential = {
  /** Base64url. */
  readonly id: string;
  readonly alg: number;
  readonly key: JsonWebKey;
  /** Uses that the authenticator has counted; 0 where it counts none. */
  readonly signCount: number;
};

/** What the answer must be about. */
export type Expected = { readonly challenge: Uint8Array; readonly origin: string; readonly rpId: string };

/** COSE algorithms that a page may offer, in the order of preference. */
export const algorithms: readonly number[] = [-7, -8, -257];

const userPresent = 0x01;
const attested = 0x40;

/** Longest id of a credential (level 2, 5.8.3: 1,023 bytes), and the parts before it. */
const idBytesMax = 1_023;
const flagsAt = 32;
const countAt = 33;
const idLengthAt = 53;

/** Checks an answer to `navigator.credentials.create`; the error is a sentence. */
export function verifyRegistration(answer: Json, expected: Expected): Result<Credential, string> {
  const client = clientFault(bytesOf(answer, "clientDataJSON"), "webauthn.create", expected);
  if (client !== undefined) return err(client);
  const object = readCbor(bytesOf(answer, "attestationObject"))?.value;
  const data = object instanceof Map ? (object as CborMap).get("authData") : undefined;
  if (!(data instanceof Uint8Array)) return err("The registration cannot be read.");
  const fault = dataFault(data, expected);
  if (fault !== undefined) return err(fault);
  const made = credentialIn(data);
  return made === undefined ? err("The key of the authenticator is of no kind that is taken.") : ok(made);
}

/** Checks an answer to `navigator.credentials.get` by this key; gives the authenticator's new count. */
export function verifyAssertion(
  answer: Json,
  credential: Credential,
  expected: Expected,
): Result<{ readonly signCount: number }, string> {
  const client = bytesOf(answer, "clientDataJSON");
  const data = bytesOf(answer, "authenticatorData");
  const fault = clientFault(client, "webauthn.get", expected) ?? dataFault(data, expected);
  if (fault !== undefined) return err(fault);
  const signed = Buffer.concat([data, Buffer.from(hash("sha256", client, "buffer"))]);
  if (!signedBy(credential, signed, bytesOf(answer, "signature")))
    return err("The signature is not by the key that is registered.");
  const signCount = Buffer.from(data).readUInt32BE(countAt);
  // 7.2, step 21: a count that does not grow is that of a copied key.
  if ((signCount !== 0 || credential.signCount !== 0) && signCount <= credential.signCount)
    return err("The authenticator has counted fewer uses than before, as a copy of it would: register it anew.");
  return ok({ signCount });
}

/** Why the browser's own statement is not about this question (7.1 and 7.2, steps on `C`). */
function clientFault(bytes: Uint8Array, type: string, { challenge, origin }: Expected): string | undefined {
  const said = attempt(() => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json, undefined);
  if (stringMember(said, "type") !== type) return "The answer is of another kind than the question.";
  if (stringMember(said, "challenge") !== Buffer.from(challenge).toString("base64url"))
    return "The answer is about another approval.";
  const crossed = member(said, "crossOrigin");
  if (stringMember(said, "origin") !== origin || (crossed !== undefined && crossed !== false))
    return "The answer was given on another page.";
  return undefined;
}

/** Why the authenticator's statement does not hold: another site, or no touch of a user. */
function dataFault(data: Uint8Array, { rpId }: Expected): string | undefined {
  const flags = data[flagsAt] ?? 0;
  if (data.length < countAt + 4) return "The answer of the authenticator is cut.";
  if (!Buffer.from(data.subarray(0, flagsAt)).equals(Buffer.from(hash("sha256", rpId, "buffer"))))
    return "The answer of the authenticator is for another site.";
  return (flags & userPresent) === 0 ? "The authenticator was not touched." : undefined;
}

/** The key in attested data: after AAGUID and id (6.5.1). */
function credentialIn(data: Uint8Array): Credential | undefined {
  if (((data[flagsAt] ?? 0) & attested) === 0 || data.length < idLengthAt + 2) return undefined;
  const bytes = Buffer.from(data);
  const length = bytes.readUInt16BE(idLengthAt);
  const keyAt = idLengthAt + 2 + length;
  if (length === 0 || length > idBytesMax || keyAt > bytes.length) return undefined;
  const read = readCbor(data, keyAt)?.value;
  const key = read instanceof Map ? jwkOf(read as CborMap) : undefined;
  if (key === undefined || importedKey(key.jwk) === undefined) return undefined;
  const id = bytes.subarray(idLengthAt + 2, keyAt).toString("base64url");
  return { id, alg: key.alg, key: key.jwk, signCount: bytes.readUInt32BE(countAt) };
}

/** A COSE key (RFC 9053) of one of the three algorithms: kty 1, alg 3, and parameters of the kind. */
function jwkOf(cose: CborMap): { readonly alg: number; readonly jwk: JsonWebKey } | undefined {
  const [kind, alg, curve] = [cose.get(1), cose.get(3), cose.get(-1)];
  const [x, y] = [textOf(cose.get(-2)), textOf(cose.get(-3))];
  if (kind === 2 && alg === -7 && curve === 1 && x !== undefined && y !== undefined)
    return { alg, jwk: { kty: "EC", crv: "P-256", x, y } };
  if (kind === 1 && alg === -8 && curve === 6 && x !== undefined)
    return { alg, jwk: { kty: "OKP", crv: "Ed25519", x } };
  const [n, e] = [textOf(curve), x];
  if (kind === 3 && alg === -257 && n !== undefined && e !== undefined) return { alg, jwk: { kty: "RSA", n, e } };
  return undefined;
}

/** Fewest bits of an RSA key. */
const rsaBitsMin = 2_048;

function importedKey(key: JsonWebKey): KeyObject | undefined {
  const made = attempt(() => createPublicKey({ key, format: "jwk" }), undefined);
  const bits = made?.asymmetricKeyDetails?.modulusLength;
  return bits !== undefined && bits < rsaBitsMin ? undefined : made;
}

function signedBy({ alg, key }: Credential, data: Buffer, signature: Uint8Array): boolean {
  const by = importedKey(key);
  return by !== undefined && attempt(() => verify(alg === -8 ? null : "sha256", data, by, signature), false);
}

function textOf(value: Cbor | undefined): string | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64url") : undefined;
}

function bytesOf(answer: Json, name: string): Uint8Array {
  return Buffer.from(stringMember(answer, name) ?? "", "base64url");
}
