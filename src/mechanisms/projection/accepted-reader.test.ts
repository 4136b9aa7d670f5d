import { expect, test } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import {
  change,
  event,
  grounds,
  orderOf,
  tool,
  traceOf,
  workspace,
} from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

const order = orderOf({ exec: { mode: "any", programs: [] } });
const git = [
  event({ action: "process-spawn", program: "/usr/bin/git" }),
  event({ action: "file-create", path: `${workspace}/.git/index.lock` }),
  event({ action: "file-rename", path: `${workspace}/.git/index.lock`, target: `${workspace}/.git/index` }),
];
const process = { tier: "A", order: "order" } as const;

function rulesFor(part: Partial<ToolContract>, path = ".git/index", events = git): readonly string[] {
  const trace = traceOf({ events, changes: [change(path)] });
  const { violations } = judgeTrace(grounds(trace, order, tool({ does: ["read.local"], ...part })));
  return [...new Set(violations.map(({ rule }) => rule))].toSorted();
}

test("a card that says that a tool reads is not contradicted by what git does to read, inside of an enclosed process", () => {
  expect(rulesFor({ source: "card", process })).toEqual([]);
  for (const source of ["operator", "pack"] as const)
    expect(rulesFor({ source, process }), source).toEqual(["effect.spawn", "effect.write"]);
  expect(rulesFor({ source: "card" })).toEqual(["effect.spawn", "effect.write"]);
});

test("and by every other change, as before", () => {
  for (const path of ["a.txt", ".git/index.js", "x.git/index", ".git/refs/heads/main"])
    expect(rulesFor({ source: "card", process }, path), path).toEqual(["effect.write"]);
  const write = [event({ action: "file-write", path: `${workspace}/a.txt` })];
  expect(rulesFor({ source: "card", process }, ".git/index", write)).toEqual(["effect.write"]);
});
