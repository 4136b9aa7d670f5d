import fc from "fast-check";
import { expect, test } from "vitest";
import { headBytesMax, parseAuthority, parseRequestHead, targetAuthority } from "./http-head.ts";

const read = (text: string): ReturnType<typeof parseRequestHead> => parseRequestHead(Buffer.from(text, "latin1"));

test("the head of a request tells where it goes and where its body begins", () => {
  const text = "POST /a?b HTTP/1.1\r\nHOST:  Api.Example.com:8080 \r\nX-Name: \xe4\r\n\r\nbody";
  expect(read(text)).toEqual({
    kind: "head",
    head: {
      method: "POST",
      target: "/a?b",
      version: "1.1",
      host: "api.example.com:8080",
      fields: [
        { name: "host", value: "Api.Example.com:8080" },
        { name: "x-name", value: "\xe4" },
      ],
      bytes: text.length - 4,
    },
  });
  expect(read("GET / HTTP/1.0\r\n\r\n")).toMatchObject({ kind: "head", head: { host: undefined } });
});

test("a head is waited for while it may still be one", () => {
  const text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (let length = 0; length < text.length; length += 1) expect(read(text.slice(0, length)).kind).toBe("more");
});

test.each([
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"],
  ["a folded line", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"],
  ["a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"],
  ["a bare line feed", "GET / HTTP/1.1\r\nX: 1\nHost: b\r\n\r\n"],
  ["a bare carriage return", "GET / HTTP/1.1\r\nX: 1\rHost: b\r\n\r\n"],
  ["a NUL", "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"],
  ["a field without a name", "GET / HTTP/1.1\r\n: a\r\n\r\n"],
  ["spaces in the target", "GET / b HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another version", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a greeting of mail", "EHLO there\r\n"],
  ["a first line that ends in a bare line feed", "GET / HTTP/1.1\n"],
  ["a head beyond the limit", `GET / HTTP/1.1\r\nX: ${"x".repeat(headBytesMax)}`],
])("%s is malformed", (_what, text) => {
  expect(read(text)).toEqual({ kind: "malformed" });
});

test("other protocols are foreign at their first bytes", () => {
  for (const text of ["\x16\x03", "ssh", "SSH-2.0-x", " GET", `${"A".repeat(21)} /`]) {
    expect(read(text)).toEqual({ kind: "foreign" });
  }
});

test("authorities", () => {
  expect(parseAuthority("A.example:443")).toEqual({ host: "a.example", port: 443 });
  expect(parseAuthority("a.example")).toEqual({ host: "a.example", port: undefined });
  expect(parseAuthority("[::1]:80")).toEqual({ host: "::1", port: 80 });
  for (const text of ["", ":80", "a:0", "a:65536", "a:b", "u@a:80", "a/b", "[a.b]:80", "::1", "a b"]) {
    expect(parseAuthority(text), text).toBeUndefined();
  }
  expect(targetAuthority("http://A.example:80/x")).toBe("a.example:80");
  expect(targetAuthority("http://u@a.example?x"), "credentials are told, and match no host").toBe("u@a.example");
  expect(targetAuthority("/http://a.example/")).toBeUndefined();
});

test("law: whatever arrives is read without a throw, and bounded", () => {
  const piece = fc.constantFrom(
    "GET ",
    "/",
    " HTTP/1.1",
    "\r\n",
    "\r",
    "\n",
    "Host: a",
    ":",
    " ",
    "\0",
    "x".repeat(300),
  );
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(piece, { maxLength: 90 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, (one) => {
      const parsed = read(one);
      if (one.length >= headBytesMax) expect(parsed.kind).not.toBe("more");
      if (parsed.kind === "head") expect(parsed.head.bytes).toBeLessThanOrEqual(headBytesMax);
      parseAuthority(one);
    }),
  );
});

test("attack: only blanks are left off around a host", () => {
  for (const [written, host] of [
    ["\t a.example \t", "a.example"],
    ["a.example\xa0", "a.example\xa0"],
    ["\x85a.example", "\x85a.example"],
  ]) {
    expect(read(`GET / HTTP/1.1\r\nHost: ${written}\r\n\r\n`)).toMatchObject({ head: { host } });
  }
});
