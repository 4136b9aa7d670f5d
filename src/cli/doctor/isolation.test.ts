import { expect, test } from "vitest";
import { anyOrder } from "../../../test/kit/isolation/isolation-order.ts";
import { fullSupport } from "../../../test/kit/isolation/machine-support.ts";
import type { Support } from "../../adapters/projection/launch/support.ts";
import { isolationChecks } from "./isolation.ts";

const { setpriv: _setpriv, ...programs } = fullSupport.programs;
const all: Support = { ...fullSupport, programs };
const bare: Support = { ...all, programs: {}, koffi: false, userNamespaces: false, bubblewrap: false, strace: false };

test.each([
  ["no policy isolates", all, [], "note", "This machine can give tier A; unset SLUICEGATE_ISOLATION"],
  ["everything is there", all, [anyOrder], "ok", "Server `files` runs in tier A"],
  ["bubblewrap is missing", { ...all, programs: {}, bubblewrap: false }, [anyOrder], "note", "package `bubblewrap`"],
  ["nothing is there and nothing is required", bare, [anyOrder], "note", "runs in tier C"],
  ["nothing is there and A is required", bare, [{ ...anyOrder, require: "A" as const }], "failed", "it does not start"],
  [
    "nothing is there and A is required of all",
    bare,
    [{ ...anyOrder, server: "any other server", require: "A" as const }],
    "failed",
    "Servers need tier A and would get C, so none starts",
  ],
  ["the policy turns it off", all, [{ ...anyOrder, mode: "off" as const }], "note", "as the policy says"],
  ["the policy learns", all, [{ ...anyOrder, mode: "learn" as const }], "note", "sluicegate learn"],
  [
    "nothing is said",
    all,
    [{ ...anyOrder, mode: "where-possible" as const }],
    "ok",
    "runs isolated in tier A, as is usual",
  ],
  [
    "nothing is said and little is there",
    bare,
    [{ ...anyOrder, mode: "where-possible" as const }],
    "note",
    "runs without isolation: this machine gives tier C",
  ],
  ["a server that is not named", all, [{ ...anyOrder, server: "any other server" }], "ok", "Servers run in tier A"],
] as const)("doctor on isolation where %s", (_name, support, orders, state, words) => {
  const checks = isolationChecks(support, orders);
  expect(checks).toHaveLength(1);
  expect(checks[0]).toMatchObject({ name: "isolation", state });
  expect(checks[0]?.sentence).toContain(words);
  expect(checks[0]?.sentence.length).toBeLessThanOrEqual(240);
});
