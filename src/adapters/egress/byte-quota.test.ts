import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteQuota } from "./byte-quota.ts";

test("bytes count for every call in flight, and outside of calls for the server alone", () => {
  const quota = new ByteQuota(100, 1_000);
  expect(quota.take(500)).toBeUndefined();
  quota.begin("1");
  expect(quota.take(60)).toBeUndefined();
  quota.begin("2");
  quota.begin("1");
  expect(quota.take(40)).toBeUndefined();
  expect(quota.take(1)).toBe("egress-call-bytes");
  quota.end("2");
  expect(quota.exhausted, "the call that used it up is still in flight").toBe("egress-call-bytes");
  expect(quota.take(0)).toBe("egress-call-bytes");
  quota.end("1");
  expect(quota.exhausted).toBeUndefined();
});

test("of two calls beyond their quota both must have ended", () => {
  const quota = new ByteQuota(100, 1_000);
  quota.begin("1");
  quota.begin("2");
  expect(quota.take(101)).toBe("egress-call-bytes");
  quota.end("1");
  expect(quota.exhausted).toBe("egress-call-bytes");
  quota.end("2");
  expect(quota.take(10)).toBeUndefined();
});

test("the quota of the server does not come back", () => {
  const quota = new ByteQuota(1_000, 100);
  quota.begin("1");
  expect(quota.take(101)).toBe("egress-server-bytes");
  quota.end("1");
  expect(quota.exhausted).toBe("egress-server-bytes");
});

test("law: bytes that pass never sum up to more than either quota", () => {
  const step = fc.oneof(fc.nat(50), fc.constantFrom("begin" as const, "end" as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const quota = new ByteQuota(100, 300);
      let inCall: number | undefined;
      let total = 0;
      for (const one of steps) {
        if (one === "begin") {
          quota.begin("call");
          inCall ??= 0;
        } else if (one === "end") {
          quota.end("call");
          inCall = undefined;
        } else if (quota.take(one) === undefined) {
          total += one;
          if (inCall !== undefined) inCall += one;
        }
        expect(inCall ?? 0).toBeLessThanOrEqual(100);
      }
      expect(total).toBeLessThanOrEqual(300);
    }),
  );
});
