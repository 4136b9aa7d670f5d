import { expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { exactly } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Answers, Opinion } from "../../core/opinion.ts";
import { restrictionNames } from "../../core/explain/restriction-names.ts";
import { type EffectsContext, effectsContextFrom } from "../../core/questions/effect-question.ts";
import { argumentCharactersMax } from "../../core/questions/told-arguments.ts";
import { argument, lattice, nothing, option, secret } from "../../../test/kit/policy/scene.ts";
import { event, evidence, orderOf, run, tool, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { makeProjection, nothingRemembered } from "./projection.ts";

const judge = { domains: true, effects: true, onDistrust: "deny" } as const;
const mechanism = makeProjection({ order: () => orderOf(), lattice, digest: (value) => JSON.stringify(value), judge });
const of = tool({
  source: "unknown",
  does: ["read.external"],
  arguments: new Map([["url", argument("content", false)]]),
});
const reached = traceOf({ events: [event({ action: "net-connect", domain: "api.example.com", port: 443 })] });

function contentOf(opinion: Opinion): JsonObject {
  const content = opinion.kind === "needs" ? opinion.questions[0]?.content : undefined;
  if (content === undefined) throw new Error("nothing asked");
  return content as JsonObject; // Contexts are objects.
}

function effectsAsked(given: JsonObject, labels: CallOption["arguments"], answers: Answers): EffectsContext {
  const call = { option: { ...option(of), arguments: labels }, arguments: given };
  const memory = { ...nothingRemembered, calls: new Map([["c", call]]) };
  const moment = { kind: "release", at: 2, call: "c", contract: of, option: option(of), outcome: "succeeded" } as const;
  const considered = { moment: { ...moment, value: null }, option: undefined };
  const found = effectsContextFrom(contentOf(mechanism.consider(considered, run, memory, answers)));
  if (found === undefined) throw new Error("a question that cannot be read");
  return found;
}

const labelled = (label: typeof secret): CallOption["arguments"] => option(of, { url: exactly(label) }).arguments;
const short = { url: "https://a.example.org/x" };
const long = `https://a.example.org/begin${"x".repeat(100_000)}end`;

test("D26: the question about effects tells the arguments of the call, bounded and with their labels", () => {
  const asked = (given: JsonObject, labels = labelled(nothing)) => effectsAsked(given, labels, evidence(reached));
  expect(asked(short).arguments).toEqual(short);
  expect(asked(short, labelled(secret)).evidence).toEqual(restrictionNames(lattice, secret));
  // An argument without a label counts as the most restricted data, and a long one keeps both of its ends.
  expect(asked({ ...short, other: 1 }).evidence).toEqual(restrictionNames(lattice, lattice.top));
  const told = asked({ url: long }).arguments;
  expect(JSON.stringify(told).length).toBeLessThanOrEqual(argumentCharactersMax);
  expect(told["url"]).toMatch(/begin.*left out.*end$/);
});

test("D26: the question about destinations is bounded in the same way, and an unlabelled argument restricts it", () => {
  const asked = (given: JsonObject): JsonObject => {
    const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: of } as const;
    const moment = { ...head, arguments: given, workspace: [], digest: "d" };
    const named = { moment, option: option(of, { url: exactly(nothing) }) };
    return contentOf(mechanism.consider(named, run, nothingRemembered, new Map()));
  };
  const text = JSON.stringify(asked({ url: long }));
  expect(text).toContain("a.example.org:443");
  expect(text.length).toBeLessThan(2 * argumentCharactersMax);
  expect(asked({ ...short, other: "b.example.org" })).toMatchObject({
    candidates: ["a.example.org:443", "b.example.org:443"],
    evidence: restrictionNames(lattice, lattice.top),
  });
});

test("D26: a trusted server that the policy exempts is traced and judged by rules, and asked about once it is distrusted", () => {
  const exempt = makeProjection({
    order: () => orderOf(),
    lattice,
    digest: (value) => JSON.stringify(value),
    judge,
    unjudged: new Set(["s"]),
  });
  const moment = { kind: "release", at: 2, call: "c", contract: of, option: option(of), outcome: "succeeded" } as const;
  const released = (trace: typeof reached, distrusted: readonly string[] = []): Opinion =>
    exempt.consider(
      { moment: { ...moment, value: null }, option: undefined },
      run,
      { ...nothingRemembered, distrusted: new Set(distrusted) },
      evidence(trace),
    );
  expect(released(reached)).toMatchObject({ kind: "settled", verdict: "allow" });
  expect(released(reached, ["s"])).toMatchObject({ kind: "needs", questions: [{ kind: "effects-judge" }] });
  const outside = traceOf({ events: [event({ action: "file-read", path: "/home/ana/.ssh/id_rsa" })] });
  expect(released(outside)).toMatchObject({ verdict: "deny", reasons: [{ code: "SG-SCOPE-FILE" }] });
});
