import { expect, it } from "vitest";
import { consentFactor, strongest } from "./consent-factor.ts";

it("knows its own names alone", () => {
  expect(consentFactor("device")).toBe("device");
  for (const other of ["none", "", "Device", "device ", undefined]) expect(consentFactor(other)).toBeUndefined();
});

it("takes the strongest of several demands", () => {
  expect(strongest(["terminal", "presence", undefined, "device", "terminal"])).toBe("presence");
  expect(strongest([undefined, "terminal"])).toBe("terminal");
  expect(strongest([])).toBeUndefined();
});
