/** Entries about an enclosed process (docs/semantics.md 2, 6, 8, 10): what the checker derives, and what it refuses. */
import { expect, it } from "vitest";
import { type Members, sha256 } from "../../../test/kit/proof/first-example.ts";
import { type Small, of, small, tool } from "../../../test/kit/proof/small-certificate.ts";
import { checkCertificate } from "./check.ts";

const process = { tier: "A", order: "o" };
const sentence = (server: string): string => `Server ${server} runs in isolation tier A under the order o.`;
const memory: Members = { stores: { "proc:s": { audience: ["me"] } } };

/** A certificate by which nothing is bad but what reaches `b`. */
function answer(parts: Small, assumed: readonly string[] = []): string {
  const made = small(parts);
  const assumptions = [...(made["assumptions"] as readonly string[]), ...assumed];
  const checked = checkCertificate({ ...made, assumptions }, { hash: sha256 });
  return checked.ok ? "accepted" : checked.reason;
}

const effects = (may: string): Members => ({ effects: { must: [], may: [may] } });
const asked = (change: Members): Small => ({
  never: { call: of("b") },
  core: ["default"],
  variables: ["K:8"],
  tools: [tool("b", change)],
});

it("the default asks about running and about writing outside, unless the process is enclosed", () => {
  for (const effect of ["execute.local", "write.local"]) {
    const never = { call: { ...of("b"), workspace: false } };
    expect(answer({ ...asked(effects(effect)), never })).toBe("accepted");
    expect(answer({ ...asked({ ...effects(effect), process }), never }, [sentence("s")])).toMatch(
      /what the hazard forbids/,
    );
  }
  expect(answer(asked({ ...effects("write.external.send"), process }), [sentence("s")])).toMatch(
    /what the hazard forbids/,
  );
});

it("the tier and the order of each server are among the assumptions", () => {
  const never = { call: of("none") };
  const two: Small = { never, tools: [tool("b", { process }), tool("a", { server: "r", process })] };
  expect(answer(two)).toMatch(/the recorded assumptions are not/);
  expect(answer(two, [sentence("s"), sentence("r")])).toMatch(/the recorded assumptions are not/);
  expect(answer(two, [sentence("r"), sentence("s")])).toMatch(/vacuous/);
});

it("a process is one for all entries of a server, and none of a tier that encloses nothing", () => {
  const never = { call: of("b") };
  const mixed = { never, tools: [tool("a", {}), tool("b", { process })] };
  expect(answer(mixed, [sentence("s")])).toMatch(/"s" are about different processes/);
  const orders = { never, tools: [tool("a", { process: { ...process, order: "p" } }), tool("b", { process })] };
  expect(answer(orders, [sentence("s")])).toMatch(/"s" are about different processes/);
  expect(answer({ never, tools: [tool("b", { process: { ...process, tier: "B" } })] })).toMatch(
    /tier is not one of A, A-/,
  );
});

it("every entry of a server writes the store of its process, where the policy declares it", () => {
  const never = { call: of("b") };
  expect(answer({ never, policy: memory, tools: [tool("b")] })).toMatch(/"s" does not write "proc:s"/);
  const written = tool("b", { writes: ["proc:s"] });
  expect(answer({ never, policy: memory, tools: [written] })).toMatch(/what the hazard forbids/);
  expect(answer({ never, policy: memory, tools: [tool("b", { server: "r" })] })).not.toMatch(/does not write/);
});

it("a process that is not enclosed fills its store, an enclosed one adds what it is given", () => {
  const label = { confidentiality: "private" };
  const never = { call: { ...of("b"), store: [{ name: "proc:s", label }] } };
  const entries = (change: Members): readonly Members[] => [tool("b", { writes: ["proc:s"], ...change })];
  const quiet = { never, policy: { ...memory, flow: { mode: "none" } } };
  // Where no data is followed, an argument carries nothing.
  const holds = { variables: ["K:1", "S:proc:s:0"], nodes: [[1, 1, 0]], root: 2 };
  expect(answer({ ...quiet, ...holds, tools: entries({ process }) }, [sentence("s")])).toBe("accepted");
  expect(answer({ ...quiet, ...holds, tools: entries({}) })).toMatch(/leads out of the invariant/);
});
