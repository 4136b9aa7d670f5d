import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAddress, sharesPrefix } from "./internet-address.ts";

const group = fc.oneof(fc.constant(0), fc.nat({ max: 0xffff }));
const groups = fc.array(group, { minLength: 8, maxLength: 8 });
const bitsOf = (parts: readonly number[], width: bigint): bigint =>
  parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n);
const hex = (parts: readonly number[]): string => parts.map((part) => part.toString(16)).join(":");
const read = (text: string): bigint | undefined => parseAddress(text)?.bits;

describe("an address", () => {
  it("law: of four numbers is those numbers, and no number is above 255 or begins with a zero", () => {
    const part = fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(0, 255, 256));
    fc.assert(
      fc.property(fc.array(part, { minLength: 4, maxLength: 4 }), (parts) => {
        const valid = parts.every((one) => one <= 255);
        expect(parseAddress(parts.join("."))).toEqual(valid ? { version: 4, bits: bitsOf(parts, 8n) } : undefined);
      }),
    );
    for (const text of [
      "010.0.0.1",
      "1",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.",
      "1.2.3.-4",
      " 1.2.3.4",
      "1.2.3.4 ",
      "0x7f.0.0.1",
    ])
      expect(parseAddress(text)).toBeUndefined();
  });

  it("law: of eight groups is those groups, however zeros are left out and whatever stands at its end", () => {
    fc.assert(
      fc.property(groups, fc.nat({ max: 7 }), fc.nat({ max: 8 }), (parts, from, to) => {
        const expected = bitsOf(parts, 16n);
        const inside = expected >> 32n === 0xffffn;
        expect(parseAddress(hex(parts))).toEqual(
          inside ? { version: 4, bits: expected & 0xffff_ffffn } : { version: 6, bits: expected },
        );
        expect(read(hex(parts).toUpperCase())).toBe(read(hex(parts)));
        const left = parts.map((one, index) => (index >= from && index < to ? 0 : one));
        if (from < to) expect(read(`${hex(left.slice(0, from))}::${hex(left.slice(to))}`)).toBe(read(hex(left)));
        const [high = 0, low = 0] = parts.slice(6);
        const dotted = [high >> 8, high & 255, low >> 8, low & 255].join(".");
        expect(read(`${hex(parts.slice(0, 6))}:${dotted}`)).toBe(read(hex(parts)));
      }),
    );
  });

  it("of version 4 inside one of version 6 is the one of version 4 that it is", () => {
    expect(parseAddress("::ffff:1.2.3.4")).toEqual({ version: 4, bits: 0x01020304n });
    expect(parseAddress("::ffff:102:304")).toEqual({ version: 4, bits: 0x01020304n });
    expect(parseAddress("::1.2.3.4")).toEqual({ version: 6, bits: 0x01020304n });
    expect(parseAddress("::1:ffff:1.2.3.4")?.version).toBe(6);
  });

  it("law: is one for us where it is one for Node", () => {
    const piece = fc.constantFrom(":", "::", ".", "0", "1", "ffff", "12345", "g", "1.2.3.4", "255.0.0.256", "");
    const text = fc.array(piece, { maxLength: 18 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (one) => {
        expect(parseAddress(one) !== undefined).toBe(isIP(one) !== 0);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(["1.2.3.4::", "1.2.3.4::1", "::1.2.3.4:1", "1:2:3:4:5:6:7:8::1.2.3.4", "::1::", "1::2::3"])(
    "regression: numbers with dots stand at the end alone, and zeros are left out once: %s is none",
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );

  it.each([
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4::5:6:7:8",
    ":1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:x8",
    "1:2:3:4:5:6:7:8x",
    "fe80::1%eth0",
  ])("of the wrong length or with other characters is none: %s", (text) => expect(parseAddress(text)).toBeUndefined());

  it("is looked at only up to the length of the longest", () => {
    const longest = "0000:0000:0000:0000:0000:ffff:255.255.255.255";
    expect([longest.length, read(longest)]).toEqual([45, 0xffff_ffffn]);
    expect(parseAddress(`0${longest}`)).toBeUndefined();
  });
});

describe("a prefix", () => {
  const shared = (left: string, right: string, prefix: number): boolean => {
    const [one, other] = [parseAddress(left), parseAddress(right)];
    if (one === undefined || other === undefined) throw new Error("these are addresses");
    return sharesPrefix(one, other, prefix);
  };

  it("is shared up to the first bit that differs, within one version", () => {
    expect([8, 9, 10, 32].map((prefix) => shared("10.0.0.1", "10.64.0.1", prefix))).toEqual([true, true, false, false]);
    expect(shared("10.0.0.1", "10.0.0.1", 32)).toBe(true);
    expect(shared("10.0.0.1", "11.0.0.1", 0)).toBe(true);
    expect([32, 33].map((prefix) => shared("2001:db8::", "2001:db8:8000::", prefix))).toEqual([true, false]);
    expect(shared("::1", "0.0.0.1", 0)).toBe(false);
    expect(shared("::ffff:10.0.0.1", "10.0.0.2", 24)).toBe(true);
  });
});
