import { expect, test } from "vitest";
import { blockOf, insideBlock } from "./matchers.ts";

test.each([
  ["10.0.0.0/8", 4, 8],
  ["::/0", 6, 0],
  ["1.2.3.4", 4, 32],
  ["::ffff:10.0.0.0/104", 4, 8],
  ["2001:db8::1:0/112", 6, 112],
])("%s is a block", (text, version, prefix) => {
  expect(blockOf(text)).toMatchObject({ version, prefix });
});

test.each([
  "",
  "10.0.0/8",
  "010.0.0.1",
  "1.2.3.256",
  "1.2.3.4/33",
  "1.2.3.4/08",
  "1.2.3.4/8/8",
  ":::",
  "1::2::3",
  "1:2:3",
  "g::",
  "::ffff:1.2.3.4/8",
  "1:2:3:4:5:6:7:8:9",
  "::1.2.3.999",
  "1".repeat(60),
])("%s is none", (text) => {
  expect(blockOf(text)).toBeUndefined();
  expect(insideBlock(text, "1.2.3.4")).toBe(false);
});

test("addresses are found in URLs and with ports, versions do not mix", () => {
  expect(insideBlock("::1/128", "http://[::1]:80/")).toBe(true);
  expect(insideBlock("0.0.0.0/0", "::1")).toBe(false);
  expect(insideBlock("0.0.0.0/0", "example.com")).toBe(false);
  expect(insideBlock("0.0.0.0/0", `${" ".repeat(3_000)}1.2.3.4`)).toBe(false);
  expect(insideBlock("1.2.3.4", "1.2.3.4:443")).toBe(true);
});
