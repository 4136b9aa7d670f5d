import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProjectionPlaces } from "./effect-trace.ts";
import {
  canonicalHost,
  matchesDestination,
  matchesPath,
  normalPath,
  parseDestination,
  resolvePattern,
  resolvePatterns,
} from "./scope-patterns.ts";

const numRuns = Number(process.env.SLUICEGATE_RUNS ?? 200);

const places: ProjectionPlaces = {
  home: "/home/ana",
  workspace: ["/home/ana/work", "/srv/data"],
  code: [],
  scratch: [],
};

describe("path patterns", () => {
  test.each([
    ["/etc/hosts", "/etc/hosts", true],
    ["/etc", "/etc/hosts", true],
    ["/etc/", "/etc/hosts", true],
    ["/etc", "/etcetera", false],
    ["/etc/hosts", "/etc", false],
    ["/etc", "/etc/../root/key", false],
    ["/etc", "/tmp/../etc/hosts", true],
    ["/", "/anything", true],
    ["~", "/home/ana/x", true],
    ["~/.config/app", "/home/ana/.config/app/a.json", true],
    ["~/.config", "/home/ana/.configuration", false],
    ["~other/x", "/home/ana/x", false],
    ["~/../eve", "/home/eve", false],
    ["~/../ana/x", "/home/ana/x", false],
    [".", "/srv/data/a", true],
    ["./src", "/home/ana/work/src/a.ts", true],
    ["./src/../src", "/srv/data/src/a.ts", true],
    ["./../work", "/home/ana/work", false],
    ["src", "/home/ana/work/src", false],
    [".hidden", "/home/ana/work/.hidden", false],
    ["/etc", "etc/hosts", false],
    ["/etc", "/etc/ho\0sts", false],
  ])("%s names %s: %s", (pattern, path, expected) => {
    expect(matchesPath(pattern, path, places)).toBe(expected);
  });

  test("a pattern of the workspace names a path in each of its folders", () => {
    expect(resolvePatterns("./a", places)).toEqual(["/home/ana/work/a", "/srv/data/a"]);
    expect(resolvePattern("./a", places)).toBe("/home/ana/work/a");
    expect(resolvePattern("./a", { ...places, workspace: [] })).toBeUndefined();
    expect(resolvePattern("./a", { ...places, workspace: ["relative"] })).toBeUndefined();
    expect(resolvePattern("~", places)).toBe("/home/ana");
  });

  test("law: whatever follows it, a pattern of the home names nothing outside of it", () => {
    const part = fc.constantFrom("..", ".", "", "a", "..a", "work");
    const property = fc.property(fc.array(part, { maxLength: 6 }), fc.array(part, { maxLength: 6 }), (left, right) => {
      const path = normalPath(`/${right.join("/")}`) ?? "/";
      if (matchesPath(["~", ...left].join("/"), path, places)) expect(path.startsWith("/home/ana")).toBe(true);
    });
    fc.assert(property, { numRuns });
  });
});

describe("the normal form of a path", () => {
  test("law: is what the platform's own normalisation gives, without a closing slash; a path in it stays as it is", () => {
    const part = fc.constantFrom("..", ".", "", "a", "b.c", ".d", "e.");
    const property = fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
      const path = `/${parts.join("/")}`;
      const expected = posix.resolve("/", path);
      expect(normalPath(path)).toBe(expected);
      expect(normalPath(expected)).toBe(expected);
    });
    fc.assert(property, { numRuns });
  });

  test("has only what is absolute, whole and no longer than a path can be", () => {
    expect(["", "a", "./a", "~/a", "/a\0"].map(normalPath)).toEqual(Array.from({ length: 5 }, () => undefined));
    const longest = `/${"a".repeat(4_095)}`;
    expect([normalPath(longest), normalPath(`${longest}a`)]).toEqual([longest, undefined]);
  });

  test.each([
    ["x~/a", []],
    ["x./a", []],
    ["..", []],
    ["./x/../../work/y", []],
    ["./x/./../y", ["/home/ana/work/y", "/srv/data/y"]],
    [".//x", ["/home/ana/work/x", "/srv/data/x"]],
    ["./", ["/home/ana/work", "/srv/data"]],
    ["/", ["/"]],
    ["/../etc", []],
  ])("the pattern %s names %j", (pattern, named) => {
    expect(resolvePatterns(pattern, places)).toEqual(named);
  });
});

describe("destination patterns", () => {
  test.each([
    ["a.example:1", 1],
    ["a.example:65535", 65_535],
    ["a.example:65536", undefined],
    ["a.example:08", undefined],
    ["a.example:0", undefined],
    ["a.example:123456", undefined],
    ["a.example:", undefined],
    ["a.example:8x", undefined],
    ["a.example:x8", undefined],
    ["[fd00::1]:8x", undefined],
    ["x[fd00::1]:8", undefined],
    ["[fd00::1]8", undefined],
    ["[fd00::1]", 443],
    ["[]", undefined],
    ["[]:8", undefined],
    [":8", undefined],
  ])("%s has the port %s", (text, port) => {
    expect(parseDestination(text)?.port).toBe(port);
  });

  test("a name is as long as names and their parts can be, and no longer", () => {
    const label = "a".repeat(63);
    const longest = [label, label, label, "a".repeat(61)].join(".");
    expect([longest.length, canonicalHost(longest), canonicalHost(`${longest}.`)]).toEqual([253, longest, longest]);
    expect(canonicalHost(`${longest}a`)).toBeUndefined();
    expect([label, `${label}a`].map((one) => canonicalHost(`${one}.example`))).toEqual([`${label}.example`, undefined]);
    expect(["a..example", ".example", "a.example..", ".", ""].map(canonicalHost)).toEqual(
      [1, 2, 3, 4, 5].map(() => undefined),
    );
  });

  test("brackets belong to an address, and a host that is no name matches no name", () => {
    expect(matchesDestination("fd00::1", "[fd00::1", 443)).toBe(false);
    expect(matchesDestination("fd00::1", "fd00::1]", 443)).toBe(false);
    expect(matchesDestination("*.example.com", "not a name", 443)).toBe(false);
    expect(matchesDestination("10.0.0.0/24x", "10.0.0.1", 443)).toBe(false);
  });

  test.each([
    ["api.example.com:443", "api.example.com", 443, true],
    ["api.example.com", "API.Example.COM.", 443, true],
    ["api.example.com", "api.example.com", 80, false],
    ["api.example.com:8443", "api.example.com", 8443, true],
    ["api.example.com", "xapi.example.com", 443, false],
    ["*.example.com", "a.b.example.com", 443, true],
    ["*.example.com", "example.com", 443, false],
    ["*.example.com", "badexample.com", 443, false],
    ["*.1.1.1.1", "2.1.1.1.1", 443, false],
    ["bücher.example", "xn--bcher-kva.example", 443, true],
    ["xn--bcher-kva.example", "BÜCHER.example", 443, true],
    ["example.com", "ｅxample.com", 443, false],
    ["localhost:5432", "localhost", 5432, true],
    ["localhost:5432", "127.0.0.1", 5432, false],
    ["10.1.2.3:80", "10.1.2.3", 80, true],
    ["10.1.2.3", "10.1.2.4", 443, false],
    ["10.1.2.0/24:80", "10.1.2.200", 80, true],
    ["10.1.2.0/24", "10.1.3.1", 443, false],
    ["10.1.0.0/16", "10.1.2.3", 443, false],
    ["10.1.2.0/33", "10.1.2.0", 443, false],
    ["10.1.2.0/024", "10.1.2.0", 443, false],
    ["10.1.2.0/24/24", "10.1.2.0", 443, false],
    ["10.1.2.3", "::ffff:10.1.2.3", 443, true],
    ["::ffff:10.1.2.0/120", "10.1.2.9", 443, true],
    ["fd00::1", "[fd00::1]", 443, true],
    ["[fd00::1]:8080", "FD00:0:0::1", 8080, true],
    ["[fd00::/64]:8080", "fd00::9", 8080, true],
    ["fd00::/32", "fd00::9", 443, false],
    ["fd00::1", "10.1.2.3", 443, false],
    ["10.1.2.3", "api.example.com", 443, false],
    ["api.example.com", "10.1.2.3", 443, false],
    ["[api.example.com]:443", "api.example.com", 443, false],
    ["api.example.com:0", "api.example.com", 0, false],
    ["api.example.com:99999", "api.example.com", 99_999, false],
    ["", "", 443, false],
    [":443", "", 443, false],
    ["*.", "a.", 443, false],
    ["api..example.com", "api.example.com", 443, false],
    ["user@example.com", "example.com", 443, false],
  ])("%s names %s port %i: %s", (pattern, host, port, expected) => {
    expect(matchesDestination(pattern, host, port)).toBe(expected);
  });

  test("other spellings of numbers are no names and no addresses", () => {
    for (const text of ["0x7f.1", "127.1", "2130706433", "01.2.3.4"]) {
      expect(canonicalHost(text)).toBeUndefined();
      expect(parseDestination(text)).toBeUndefined();
    }
    expect(canonicalHost("a".repeat(300))).toBeUndefined();
    expect(canonicalHost(`${"a".repeat(64)}.example`)).toBeUndefined();
  });

  test("law: a canonical name is its own canonical form", () => {
    const property = fc.property(fc.domain(), (name) => {
      const host = canonicalHost(name);
      expect(canonicalHost(host ?? name)).toBe(host);
    });
    fc.assert(property, { numRuns });
  });
});
