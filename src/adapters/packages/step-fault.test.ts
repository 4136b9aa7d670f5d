import { expect, test } from "vitest";
import { stepFault } from "./step-fault.ts";

const outcome = { code: 1, lines: [] as string[], refused: [] as string[], unreached: false, cut: undefined };
const fault = (given: Partial<Parameters<typeof stepFault>[1]>): string =>
  stepFault("server@1", { ...outcome, ...given });

test.each([
  [["npm error code E404", "npm error 404 Not Found - GET http://r/server"], "has no package `server@1`"],
  [["npm error code ETARGET", "npm error notarget No matching version found for server@1."], "has no version"],
  [["ERROR: No matching distribution found for server==1"], "has no version"],
  [["npm error code EINTEGRITY"], "does not have the digest"],
  [["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."], "does not have the digest"],
  [["npm error code E401"], "refused access"],
  [["npm error code ENOSPC"], "disk is full"],
  [["EFBIG: file too large, write"], "too large"],
  [["ensurepip is not available."], "python3-venv"],
  [["npm error code SELF_SIGNED_CERT_IN_CHAIN"], "certificate"],
  [["npm error code ENOTFOUND"], "cannot be reached"],
  // Without a network pip ends with the words of an index that has no such package.
  [
    ["connection broken by 'NewConnectionError'(Name or service not known)", "No matching distribution found"],
    "cannot be reached",
  ],
  [["npm error something else", "npm error A complete log of this run"], "(something else)"],
  [[], "could not be installed ()"],
])("%j", (lines, says) => {
  const sentence = fault({ lines });
  expect(sentence).toContain(says);
  expect(sentence.length).toBeLessThanOrEqual(200);
});

test("a host that is not the registry, no registry at all, and a step that was ended", () => {
  expect(fault({ refused: ["evil.example"] })).toContain("wanted `evil.example`");
  expect(fault({ unreached: true })).toContain("cannot be reached");
  expect(fault({ cut: "would fill the disk" })).toContain("would fill the disk and was ended");
});

test("a name of any length leaves the sentence readable", () => {
  for (const lines of [["E404"], ["EINTEGRITY"], ["E401"], ["ETARGET"], ["x".repeat(400)]]) {
    expect(stepFault("n".repeat(300), { ...outcome, lines }).length).toBeLessThanOrEqual(240);
  }
});
