import fc from "fast-check";
import { expect, test } from "vitest";
import { greetingBytesMax, parseGreeting, parseRequest, replies, requestBytesMax, socksReply } from "./socks.ts";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const named = (name: string, port = "01bb"): Uint8Array =>
  bytes(`05010003${name.length.toString(16).padStart(2, "0")}${Buffer.from(name, "latin1").toString("hex")}${port}`);

test("a greeting is usable when it offers to go without authentication", () => {
  expect(parseGreeting(bytes("05020002"))).toEqual({ kind: "greeting", usable: true, bytes: 4 });
  expect(parseGreeting(bytes("050102ff"))).toEqual({ kind: "greeting", usable: false, bytes: 3 });
  for (const hex of ["", "05", "0502", "050200"]) expect(parseGreeting(bytes(hex))).toEqual({ kind: "more" });
  for (const hex of ["04", "0500"]) expect(parseGreeting(bytes(hex))).toEqual({ kind: "malformed" });
});

test("a request names its destination in one of three ways", () => {
  expect(parseRequest(named("Api.example"))).toEqual({ kind: "connect", host: "api.example", port: 443, bytes: 18 });
  expect(parseRequest(bytes("050100017f0000010050"))).toMatchObject({ host: "127.0.0.1", port: 80 });
  const six = "05010004" + "00".repeat(15) + "01" + "0050";
  expect(parseRequest(bytes(six))).toMatchObject({ host: "0:0:0:0:0:0:0:1", port: 80 });
  expect(parseRequest(bytes("050200017f0000010050")), "binding is not offered").toEqual({ kind: "unsupported" });
});

test("a request cut anywhere is waited for; another version, type, name or port is malformed", () => {
  const whole = named("a.example");
  for (let length = 0; length < whole.length; length += 1) {
    expect(parseRequest(whole.subarray(0, length)), String(length)).toEqual({ kind: "more" });
  }
  const wrong = [
    bytes("04"),
    bytes("050101"),
    bytes("05010002"),
    bytes("0501000300"),
    named("a b"),
    named("a", "0000"),
  ];
  for (const one of wrong) expect(parseRequest(one)).toEqual({ kind: "malformed" });
});

test("replies tell no address of ours", () => {
  expect(Buffer.from(socksReply(replies.notAllowed)).toString("hex")).toBe("05020001000000000000");
});

test("law: whatever arrives is read without a throw and never waited for beyond the limit", () => {
  const arbitrary = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.uint8Array({ maxLength: 400 }).map((tail) => Uint8Array.from([5, 1, 0, 3, ...tail])),
  );
  fc.assert(
    fc.property(arbitrary, (one) => {
      if (parseGreeting(one).kind === "more") expect(one.length).toBeLessThan(greetingBytesMax);
      if (parseRequest(one).kind === "more") expect(one.length).toBeLessThan(requestBytesMax);
    }),
  );
});
