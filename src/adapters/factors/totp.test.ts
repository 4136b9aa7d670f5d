// Codes of RFC 6238, appendix B (eight digits there; the last six are those of six digits), and base 32 of RFC 4648, 10.
import { describe, expect, it } from "vitest";
import { base32, codeAt, matchingStep, otpauthUri, stepAt } from "./totp.ts";

const secret = Buffer.from("12345678901234567890");

describe("codes", () => {
  it.each([
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ])("at %i s are those of the RFC", (seconds, code) => {
    expect(codeAt(secret, stepAt(seconds * 1_000))).toBe(code.slice(2));
  });

  it("are taken one step early or late, and as they are typed", () => {
    const now = 1_234_567_890_000;
    const at = stepAt(now);
    for (const step of [at - 1, at, at + 1]) expect(matchingStep(secret, codeAt(secret, step), now)).toBe(step);
    for (const step of [at - 2, at + 2]) expect(matchingStep(secret, codeAt(secret, step), now)).toBeUndefined();
    expect(matchingStep(secret, " 005 924\n", now)).toBe(at);
  });

  it.each(["", "000000", "00592", "0059244", "89005924", "٠٠٥٩٢٤", "005924x", "0".repeat(1_000_000)])(
    "are not %.20s",
    (text) => expect(matchingStep(secret, text, 1_234_567_890_000)).toBeUndefined(),
  );
});

it("base 32 is that of the RFC, without padding", () => {
  const words = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
  expect(words.map((word) => base32(Buffer.from(word)))).toEqual([
    "",
    "MY",
    "MZXQ",
    "MZXW6",
    "MZXW6YQ",
    "MZXW6YTB",
    "MZXW6YTBOI",
  ]);
});

it("the URI escapes what an account may contain", () => {
  const uri = otpauthUri(secret, "ann b@host?x=1&secret=AAAA");
  expect(uri).toContain("otpauth://totp/Sluicegate%3Aann%20b%40host%3Fx%3D1%26secret%3DAAAA?secret=GEZDGNBVGY3TQOJQ");
  expect(new URL(uri).searchParams.getAll("secret")).toEqual(["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]);
});
