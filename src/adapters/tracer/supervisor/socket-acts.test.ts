import fc from "fast-check";
import { expect, test } from "vitest";
import { tidy } from "./server-files.ts";
import type { Notification, Surroundings } from "./notification.ts";
import { listenAct, parseSocketAddress } from "./socket-acts.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const bytes = (...parts: readonly (number | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from([part]))));

test("addresses that reach somewhere are read as the kernel reads them", () => {
  const internet = bytes(2, 0, 0x1f, 0x90, 10, 1, 2, 3, "\0".repeat(8));
  expect(parseSocketAddress(internet)).toEqual({ address: "10.1.2.3", port: 8080, transport: "tcp" });
  const six = (address: Buffer): Buffer =>
    Buffer.concat([bytes(10, 0, 0, 80, "\0".repeat(4)), address, bytes("\0".repeat(4))]);
  expect(parseSocketAddress(six(bytes("\0".repeat(15), 1)))).toEqual({ address: "::1", port: 80, transport: "tcp" });
  // An IPv4 address in disguise goes where that goes, so a guard must see it as such.
  const mapped = six(bytes("\0".repeat(10), 0xff, 0xff, 127, 0, 0, 1));
  expect(parseSocketAddress(mapped)).toMatchObject({ address: "127.0.0.1" });
  expect(parseSocketAddress(bytes(1, 0, "/run/docker.sock\0rest"))).toEqual({
    path: "/run/docker.sock",
    transport: "unix",
  });
  expect(parseSocketAddress(bytes(1, 0, "\0name"))).toEqual({ path: "@name", transport: "unix" });
});

test("questions to the kernel itself, and what is cut off, reach nowhere", () => {
  for (const one of [
    bytes(),
    bytes(2),
    bytes(1, 0),
    bytes(2, 0, 0, 80),
    bytes(10, 0, 0, 80),
    bytes(16, 0, "\0".repeat(10)),
  ]) {
    expect(parseSocketAddress(one)).toBeUndefined();
  }
});

test("a local socket that waits has said where; others are seen as what they are", () => {
  // Only what the act looks at.
  const seen = { thread: 7, at: 0, low: () => 3 } as unknown as Notification;
  const around = (kind: "tcp" | "unix" | undefined): Surroundings =>
    ({ socketKind: () => kind, files: { place: () => ({ process: 7 }) } }) as unknown as Surroundings;
  expect(listenAct(seen, around("unix"))).toEqual([]);
  expect(listenAct(seen, around("tcp"))).toMatchObject([{ action: "net-listen", transport: "tcp" }]);
  expect(listenAct(seen, around(undefined))).toMatchObject([{ action: "net-listen", extra: "listen" }]);
});

test("no bytes make it throw", () => {
  const family = fc.constantFrom(1, 2, 10);
  fc.assert(
    fc.property(family, fc.uint8Array({ maxLength: 128 }), (kind, rest) => {
      const place = parseSocketAddress(Buffer.from([kind, 0, ...rest]));
      expect(place === undefined || place.path !== undefined || place.address !== undefined).toBe(true);
    }),
    { numRuns: runs },
  );
});

test("a tidied path has no way up and no empty part", () => {
  const part = fc.constantFrom("", ".", "..", "a", "..b", ".c", "d.");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const path = tidy(`/${parts.join("/")}`);
      expect(path.startsWith("/")).toBe(true);
      expect(
        path === "/" ||
          path
            .slice(1)
            .split("/")
            .every((one) => one !== "" && one !== "." && one !== ".."),
      ).toBe(true);
      expect(tidy(path)).toBe(path);
    }),
    { numRuns: runs },
  );
  expect(tidy("/a/./b//../c/")).toBe("/a/c");
});
