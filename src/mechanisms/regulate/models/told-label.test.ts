// What a judge may be told is decided on what arguments may hold, not on what was allowed for one call.
import { expect, it } from "vitest";
import { exactly } from "../../../core/label.ts";
import { labelOfNames } from "../../../core/explain/restriction-names.ts";
import { digest } from "../../../wire/canonical.ts";
import { openHost } from "../../../../test/kit/regulation/documents.ts";
import { type SmallDocument, SmallRun } from "../../../../test/kit/regulation/small-run.ts";
import { sha256 } from "../../../../test/kit/proof/small.ts";

const models = (flow: "strict" | "none"): SmallDocument => ({
  labels: openHost().labels ?? {},
  flow: { mode: flow },
  regulation: { models: { embedded: true } },
});

function answering(document: SmallDocument): SmallRun {
  const run = new SmallRun(document);
  run.answering = { safety: "safe", pUnsafe: 0, filteredTools: [] };
  return run;
}

const text = "all salaries";

/** The label of the question about the call, whichever of the two comes first. */
function evidence(run: SmallRun, given = { text }): unknown {
  const contents = run.questions("s.mail_out", given).map(({ content }) => Object(content));
  return contents.find((content) => "pending" in content)?.evidence;
}

it("what a person released to one recipient is not released to whoever runs a judge, now and in later questions", () => {
  const run = answering(models("strict"));
  run.call("s.read_priv");
  expect(evidence(run)).toEqual(["private"]);
  const { lattice } = run.ir;
  const from = exactly(labelOfNames(lattice, ["private"]));
  const value = { digest: digest(text, sha256), role: "content", from, to: exactly(lattice.bottom) } as const;
  const grant = { kind: "declassify", ...value, purpose: "mail", principal: "p", expiresAt: 1_000 } as const;
  run.fold({ kind: "granted", at: run.at, grant });
  expect(evidence(run)).toEqual(["private"]);
  run.call("s.mail_out", { text });
  run.at = 2_000;
  expect(run.questions("s.read_pub")[0]?.content).toMatchObject({ evidence: ["private"] });
});

it("where values are not followed, an argument may hold whatever the run holds", () => {
  const run = answering(models("none"));
  expect(evidence(run)).toEqual([]);
  run.call("s.read_priv");
  expect(evidence(run)).toEqual(["private"]);
});
