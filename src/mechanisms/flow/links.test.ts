import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../../test/kit/policy/cpu-time.ts";
import { linksIn, linksMax } from "./links.ts";

describe("links in content", () => {
  it("finds what a reader could follow", () => {
    expect(linksIn("Check out this link: www.secure-systems-252.com.")).toEqual(["www.secure-systems-252.com"]);
    expect(linksIn("[here](https://evil.example/x?y=1) or evil.example/login")).toEqual([
      "https://evil.example/x?y=1",
      "evil.example/login",
    ]);
    expect(linksIn({ text: ["see pay-now.io", { deep: "ftp://h/x" }] })).toEqual(["pay-now.io", "ftp://h/x"]);
  });

  it("takes neither plain words nor addresses of people for links", () => {
    expect(linksIn("See you at 5 p.m. I wrote to ana@example.com about v1.2 and 3.50, ok?")).toEqual([]);
    expect(linksIn(7)).toEqual([]);
  });

  it.each([
    ["**https://evil.example/x**", "https://evil.example/x"],
    ["_evil.example_", "evil.example"],
    ["![x](//evil.example/?q=1)", "//evil.example/?q=1"],
    ["\\\\evil.example\\x", "\\\\evil.example\\x"],
    ["https:\\\\evil.example", "https:\\\\evil.example"],
    ["https:evil.example", "https:evil.example"],
    ["https:/1.2.3.4/x", "https:/1.2.3.4/x"],
    ["href=//1.2.3.4/x", "//1.2.3.4/x"],
    ["“evil.example”", "evil.example"],
    ["javascript:alert", "javascript:alert"],
    ["evil.xn--p1ai/x", "evil.xn--p1ai/x"],
    ["my_shop.example/x", "my_shop.example/x"],
    ["evil.example./x", "evil.example./x"],
    ["evil。example", "evil。example"],
    ["हिन्दी.भारत", "हिन्दी.भारत"],
  ])("finds the link in %s", (text, found) => {
    expect(linksIn(text)).toContain(found);
  });

  it("reads a long row of punctuation once", () => {
    const dots = `${".".repeat(1_000_000)}x`;
    expect(cpuMsOf(() => expect(linksIn(dots)).toEqual([]))).toBeLessThan(2_000);
  });

  it("gives the whole text where there are too many to look at", () => {
    const text = Array.from({ length: linksMax + 2 }, (_, index) => `h${index}.example`).join(" ");
    expect(linksIn(text)).toContain(text);
    expect(linksIn(text).length).toBeLessThanOrEqual(linksMax + 1);
  });

  it("is total, whatever the text and its nesting", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void linksIn(value as never)));
    const deep = JSON.parse(`${"[".repeat(60)}"a.example"${"]".repeat(60)}`);
    expect(linksIn(deep)).toHaveLength(1);
  });
});
