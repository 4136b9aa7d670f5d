// Deletions in the workspace by a tool of an enclosed process (docs/semantics.md 10): the belief that nothing deletes is
// kept by asking before one is taken over.
import { expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import { change, grounds, orderOf, tool, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

const process = { tier: "A", order: "order" } as const;
const trace = traceOf({ changes: [change("notes/a.txt", { kind: "deleted" }), change("notes/b.txt")] });

function found(part: Partial<ToolContract> & { does?: readonly string[] }): readonly string[] {
  const { violations } = judgeTrace(grounds(trace, orderOf(), tool(part)));
  return violations.map(({ rule, verdict, what }) => `${rule} ${verdict}: ${what}`);
}

it("a deletion by a tool of which nothing says that it deletes is asked about", () => {
  const plain = { does: ["execute.local", "read.local", "write.local"], source: "enforced", process } as const;
  expect(found(plain)).toEqual(["effect.delete confirm: deleted `notes/a.txt`, although nothing says that it deletes"]);
  expect(found({ ...plain, does: ["write.local", "write.local.delete"] })).toEqual([]);
  expect(found({ does: ["read.local", "write.local"] })).toEqual([]);
  expect(found({ ...plain, source: "card" })).toHaveLength(1);
  for (const source of ["operator", "pack"] as const) expect(found({ ...plain, source })).toEqual([]);
});
