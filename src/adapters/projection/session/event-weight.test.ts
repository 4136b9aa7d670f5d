import { expect, test } from "vitest";
import { isPlainRead, looksSensitive, mayWrite, weightClass } from "./event-weight.ts";

test.each([
  "/home/ada/.ssh/id_ed25519",
  "/home/ada/.aws/credentials",
  "/project/.env",
  "/project/.env.local",
  "/project/.git/hooks/pre-commit",
  "/etc/shadow",
  "/proc/1/environ",
  "/home/ada/.bashrc",
  "/run/docker.sock",
])("%s looks sensitive", (path) => expect(looksSensitive(path)).toBe(true));

test.each([
  "/project/.envoy/x",
  "/usr/share/cookies",
  "/etc/ssl/certs/ca.pem",
  "/project/shadow.ts",
  "/lib/x",
  undefined,
])("%s does not", (path) => expect(looksSensitive(path)).toBe(false));

test("what sensitive things weigh, then effects and denials, then reads that everybody does", () => {
  const read = { action: "file-read", outcome: "success", path: "/project/a" } as const;
  expect(weightClass({ ...read, path: "/home/ada/.netrc" })).toBe(0);
  expect(weightClass({ action: "file-rename", outcome: "success", path: "/a", target: "/home/ada/.zshrc" })).toBe(0);
  expect(weightClass({ ...read, outcome: "denied" })).toBe(1);
  expect(weightClass({ action: "net-connect", outcome: "success" })).toBe(1);
  expect(weightClass(read)).toBe(2);
  expect([isPlainRead(read), isPlainRead({ ...read, outcome: "failed" })]).toEqual([true, true]);
});

test("only a denial says that nothing was written", () => {
  expect(mayWrite({ action: "file-write", outcome: "unknown" })).toBe(true);
  expect(mayWrite({ action: "file-delete", outcome: "failed" })).toBe(true);
  expect(mayWrite({ action: "file-create", outcome: "denied" })).toBe(false);
  expect(mayWrite({ action: "file-read", outcome: "success" })).toBe(false);
});
