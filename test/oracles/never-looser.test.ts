// A mechanism that asks a model is never looser than the same mechanism without one, whatever the model's server does.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { member, stringMember } from "../../src/core/json.ts";
import type { ToolContract } from "../../src/core/contract.ts";
import { type Engine, type Mechanism, begin, seal } from "../../src/core/mechanism.ts";
import type { CallMoment } from "../../src/core/moment.ts";
import { type Answer, type Opinion, type Question, noObjection, settled } from "../../src/core/opinion.ts";
import { step } from "../../src/core/step.ts";
import { type Verdict, atLeastAsStrict } from "../../src/core/verdict.ts";
import { call as smallCall, contract as smallContract, model } from "../kit/policy/small-engine.ts";
import { context } from "./contexts.ts";
import { judged, questionOf } from "./judged.ts";
import { type ModelServer, type Scripted, completion, startModelServer, verdict } from "../kit/server/model-server.ts";

const runs = Math.min(100, Number(process.env["SLUICEGATE_RUNS"] ?? 200));

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer(() => verdict("safe"));
});
afterAll(() => server.close());

const contract: ToolContract = { ...smallContract, server: "mail", tool: "send_mail", consequential: true };
const call: CallMoment = { ...smallCall, contract, arguments: {} };

const opinionOf = (id: string, of: Verdict): Opinion =>
  of === "allow" ? noObjection : settled([{ mechanism: id, code: "SG-TEST", verdict: of, facts: {} }]);

/** What every other mechanism thinks. */
const other = (of: Verdict): Mechanism<null> => ({
  id: "other",
  version: 1,
  initial: () => null,
  remember: () => null,
  consider: () => opinionOf("other", of),
});

/** Asks about the call, and follows whatever it is told: a mechanism that takes `safe` for a permission. */
const asks = (question: Question): Mechanism<null> => ({
  id: question.mechanism,
  version: 1,
  initial: () => null,
  remember: () => null,
  consider: ({ moment }, _run, _memory, answers): Opinion => {
    if (moment.kind !== "call") return noObjection;
    const answer = answers.get(question.key);
    if (answer === undefined) return { kind: "needs", questions: [question] };
    if (answer.kind === "unavailable") return noObjection;
    const safety = stringMember(answer.value, "safety");
    const filtered = JSON.stringify(member(answer.value, "filteredTools") ?? []);
    if (safety === "unsafe") return opinionOf(question.mechanism, "deny");
    return opinionOf(question.mechanism, filtered.includes("mail.send_mail") ? "confirm" : "allow");
  },
});

const text = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.json(),
  fc.constantFrom("safe", "<|safety|>safe<|safety|>", '{"safety":"safe"}', '{"safety":"safe","filtered_tools":[]}'),
);
const name = fc.constantFrom("mail.send_mail", "files.read_file", "shell.run", "*", "");
const scripted: fc.Arbitrary<Scripted> = fc.oneof(
  text.map((content) => completion(content)),
  fc
    .tuple(fc.constantFrom("safe", "critical", "unsafe", "fine"), fc.array(name, { maxLength: 3 }))
    .map(([a, b]) => verdict(a, b)),
  fc.integer({ min: 400, max: 599 }).map((status) => ({ status, body: "{}" })),
  text.map((body) => ({ body })),
  fc.constantFrom<Scripted>("hang", "cut", { status: 302, body: "", location: "http://127.0.0.1:1/" }),
);

it("in every verdict", async () => {
  const verdicts = fc.constantFrom<Verdict>("allow", "confirm", "deny");
  const modes = fc.constantFrom("required", "advisory");
  await fc.assert(
    fc.asyncProperty(verdicts, modes, scripted, async (without, mode, answer) => {
      server.script = () => answer;
      const question = questionOf(context, mode);
      const plain: Engine = { model, mechanisms: [seal(other(without))] };
      const asking: Engine = { model, mechanisms: [seal(other(without)), seal(asks(question))] };
      const alone = step(plain, begin(plain, "r", undefined), call, new Map());
      const first = step(asking, begin(asking, "r", undefined), call, new Map());
      if (alone.kind !== "decided") throw new Error("nothing is asked without the mechanism");
      // A deny is settled before anything is asked.
      if (without === "deny") {
        expect(first).toMatchObject({ kind: "decided", decision: { verdict: "deny" } });
        return;
      }
      expect(first.kind).toBe("asking");
      const { oracle } = judged(`{url: "${server.url}/v1", model: m, canary: false, labelFirst: false}`);
      const answers = await oracle.answer([question], 150, { policy: "p", run: "r" });
      const known = new Map<string, Answer>(answers.map((each) => [each.question.key, each]));
      const last = step(asking, begin(asking, "r", undefined), call, known);
      if (last.kind !== "decided") throw new Error("the oracle left a question open");
      expect(atLeastAsStrict(last.decision.verdict, alone.decision.verdict)).toBe(true);
      const unanswered = answers[0]?.kind === "unavailable";
      if (mode === "required" && unanswered) expect(last.decision.verdict).not.toBe("allow");
    }),
    { numRuns: runs },
  );
});
