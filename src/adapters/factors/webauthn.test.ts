// What an authenticator and a browser say is believed only for this site, this page, this challenge and this key.
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Authenticator, type Kind, type Question, cbor } from "../../../test/kit/client/authenticator.ts";
import { readCbor } from "./cbor.ts";
import { type Credential, verifyAssertion, verifyRegistration } from "./webauthn.ts";

const origin = "http://localhost:4711";
const expected = { challenge: randomBytes(32), origin, rpId: "localhost" };

function registered(authenticator: Authenticator): Credential {
  const made = verifyRegistration(authenticator.register(expected), expected);
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

const falsely: readonly (readonly [string, Partial<Question>])[] = [
  ["another challenge", { challenge: randomBytes(32) }],
  ["no challenge", { challenge: new Uint8Array() }],
  ["another port", { origin: "http://localhost:4712" }],
  ["another host", { origin: "http://localhost.evil.example:4711" }],
  ["an encrypted page", { origin: "https://localhost:4711" }],
  ["another site", { rpId: "evil.example" }],
  ["another kind", { type: "payment.get" }],
  ["a page within another", { more: { crossOrigin: true } }],
  ["a page within one that says it is none", { more: { crossOrigin: "false" } }],
  ["no touch", { flags: 0x40 }],
  ["no touch but a password", { flags: 0x44 }],
];

describe.each<Kind>(["ES256", "EdDSA", "RS256"])("a key of kind %s", (kind) => {
  const authenticator = new Authenticator(kind);
  const credential = registered(authenticator);

  it("is registered, and answers", () => {
    expect(credential.id).toBe(authenticator.id.toString("base64url"));
    expect(verifyAssertion(authenticator.answer(expected), credential, expected)).toEqual({
      ok: true,
      value: { signCount: 0 },
    });
  });

  it.each(falsely)("A9: is not believed with %s", (_name, about) => {
    const question = { ...expected, ...about };
    expect(verifyRegistration(authenticator.register(question), expected)).toMatchObject({ ok: false });
    expect(verifyAssertion(authenticator.answer(question), credential, expected)).toMatchObject({ ok: false });
  });

  it("A9: is not believed where another key signed, or any byte is changed", () => {
    const other = new Authenticator(kind).answer(expected);
    expect(verifyAssertion(other, credential, expected)).toMatchObject({ ok: false });
    const good = authenticator.answer(expected);
    for (const name of ["clientDataJSON", "authenticatorData", "signature"] as const) {
      const bytes = Buffer.from(good[name] ?? "", "base64url");
      for (const at of [0, 20, bytes.length - 1]) {
        const changed = Uint8Array.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        const answer = { ...good, [name]: Buffer.from(changed).toString("base64url") };
        expect(verifyAssertion(answer, credential, expected)).toMatchObject({ ok: false });
      }
      for (const cut of [{}, { [name]: "" }, { [name]: bytes.subarray(0, 30).toString("base64url") }, { [name]: 7 }]) {
        const { [name]: _gone, ...rest } = good;
        expect(verifyAssertion({ ...rest, ...cut }, credential, expected)).toMatchObject({ ok: false });
      }
    }
  });
});

it("A9: a count that does not grow is that of a copy", () => {
  const authenticator = new Authenticator();
  authenticator.count = 5;
  const credential = registered(authenticator);
  expect(credential.signCount).toBe(5);
  const proven = verifyAssertion(authenticator.answer(expected), credential, expected);
  expect(proven).toEqual({ ok: true, value: { signCount: 6 } });
  const later = { ...credential, signCount: 6 };
  for (const count of [5, 4, -1]) {
    authenticator.count = count < 0 ? 0 : count;
    expect(verifyAssertion(authenticator.answer(expected), later, expected)).toMatchObject({
      ok: false,
      error: expect.stringContaining("a copy of it"),
    });
  }
});

describe("a registration", () => {
  const authenticator = new Authenticator();
  const good = authenticator.register(expected);
  const object = Buffer.from(good["attestationObject"] ?? "", "base64url");
  const withObject = (bytes: Uint8Array) => ({ ...good, attestationObject: Buffer.from(bytes).toString("base64url") });

  it("that is cut anywhere is refused, and throws nothing", () => {
    for (let length = 0; length < object.length; length += 1)
      expect(verifyRegistration(withObject(object.subarray(0, length)), expected)).toMatchObject({ ok: false });
  });

  it("is refused for keys that are too short, of another kind, or off the curve", () => {
    const head = Buffer.concat([createHash("sha256").update("localhost").digest(), Buffer.from([0x41, 0, 0, 0, 0])]);
    const made = (key: Buffer) =>
      withObject(cbor([["authData", Buffer.concat([head, Buffer.alloc(16), Buffer.from([0, 1, 9]), key])]]));
    const { n = "", e = "" } = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });
    const short = [-1, -2].map((name, at) => [name, Buffer.from([n, e][at] ?? "", "base64url")] as const);
    const point = [-2, -3].map((name) => [name, Buffer.alloc(32, 1)] as const);
    const refused = { ok: false, error: expect.stringContaining("no kind that is taken") };
    const start = (kind: number, alg: number) => [[1, kind] as const, [3, alg] as const];
    expect(verifyRegistration(made(cbor([...start(3, -257), ...short])), expected)).toMatchObject(refused);
    expect(verifyRegistration(made(cbor([...start(2, -7), [-1, 1], ...point])), expected)).toMatchObject(refused);
    expect(verifyRegistration(made(cbor([...start(2, -7), [-1, 2], ...point])), expected)).toMatchObject(refused);
    expect(verifyRegistration(made(cbor([...start(2, -35), [-1, 1], ...point])), expected)).toMatchObject(refused);
    expect(verifyRegistration(made(cbor([])), expected)).toMatchObject(refused);
  });

  it.each([null, 7, "x", [], {}, { clientDataJSON: {} }])("that is %j is refused", (answer) => {
    expect(verifyRegistration(answer, expected)).toMatchObject({ ok: false });
    expect(verifyAssertion(answer, registered(authenticator), expected)).toMatchObject({ ok: false });
  });
});

describe("CBOR", () => {
  const read = (hex: string): unknown => readCbor(Buffer.from(hex, "hex"))?.value;

  it.each([
    ["00", 0],
    ["1818", 24],
    ["1903e8", 1_000],
    ["1a000f4240", 1_000_000],
    ["20", -1],
    ["3903e7", -1_000],
    ["f4", false],
    ["f5", true],
    ["f6", null],
    ["6161", "a"],
    ["83010203", [1, 2, 3]],
  ])("%s is %j (RFC 8949, appendix A)", (hex, value) => expect(read(hex)).toEqual(value));

  it.each([
    ["cut", "1903"],
    ["a cut text", "6261"],
    ["a cut list", "8301"],
    ["a cut map", "a101"],
    ["of indefinite length", "9f01ff"],
    ["of eight bytes", "1b000000e8d4a51000"],
    ["a tag", "c11a514b67b0"],
    ["a float", "f93c00"],
    ["an unknown simple value", "f0"],
    ["a map with a name twice", "a201010102"],
    ["a map with a list as name", "a1800100"],
    ["deeper than anything is", `${"81".repeat(20)}00`],
    ["longer than anything is", `9841${"00".repeat(65)}`],
    ["a list of four thousand million", "9affffffff"],
    ["nothing", ""],
  ])("%s is not read", (_name, hex) => expect(read(hex)).toBeUndefined());
});
