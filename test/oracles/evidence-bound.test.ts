// Evidence above a judge's bound never leaves the process: the server keeps every byte, and the planted secret is none.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { PredictionContext } from "../../src/core/questions/prediction.ts";
import { context } from "./contexts.ts";
import { judged } from "./judged.ts";
import { type ModelServer, startModelServer, verdict } from "../kit/server/model-server.ts";

const runs = Math.min(60, Number(process.env["SLUICEGATE_RUNS"] ?? 200));
const secret = "planted-7f3a-secret";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer(() => verdict("critical", ["mail.send_mail"]));
});
beforeEach(() => void server.received.splice(0));
afterAll(() => server.close());

type Place = "argument" | "name" | "nested" | "tool" | "instruction" | "earlier";

function planted(place: Place, evidence: readonly string[]): PredictionContext {
  const { pending } = context;
  if (pending === undefined) throw new Error("the context has a pending call");
  const told = { ...context, evidence };
  switch (place) {
    case "argument":
      return { ...told, pending: { ...pending, arguments: { body: secret } } };
    case "name":
      return { ...told, pending: { ...pending, arguments: { [secret]: 1 } } };
    case "nested":
      return { ...told, pending: { ...pending, arguments: { body: { deep: [{ [secret]: secret }] } } } };
    case "tool":
      return { ...told, pending: { ...pending, tool: secret, declared: [] } };
    case "instruction":
      return { ...told, instruction: secret };
    case "earlier":
      return { ...told, steps: [{ ...pending, arguments: { body: secret }, outcome: "succeeded" }] };
  }
}

const place = fc.constantFrom<Place>("argument", "name", "nested", "tool", "instruction", "earlier");
const above = fc.constantFrom(["private"], ["sensitive", "untrusted"], ["medical"], ["of another policy"]);
const bytes = (): string => server.received.join("\n");
// Loopback is the top unless the policy says otherwise, so the bound is written: the server plays a distant one.
const judge = (more: string): string =>
  `{url: "${server.url}/v1", model: m, bound: public, canary: false, labelFirst: false${more}}`;

it("is sent as shapes alone, wherever the data stands", async () => {
  await fc.assert(
    fc.asyncProperty(place, above, async (where, labels) => {
      expect(await judged(judge("")).ask(planted(where, labels))).toMatchObject({ safety: "critical" });
      expect(bytes()).not.toContain("7f3a");
      expect(bytes()).toContain("withheld");
    }),
    { numRuns: runs },
  );
});

it("is not sent at all where the policy says so", async () => {
  await fc.assert(
    fc.asyncProperty(place, above, async (where, labels) => {
      const said = await judged(judge(", above: nothing")).ask(planted(where, labels));
      expect(said).toBe("the judge j gave no answer: the evidence is above its bound");
    }),
    { numRuns: runs },
  );
  expect(server.received).toEqual([]);
});

it("is sent whole where it is within the bound: the test would see it", async () => {
  for (const where of ["argument", "name", "nested", "tool", "instruction", "earlier"] as const) {
    await judged(judge("")).ask(planted(where, ["untrusted"]));
    expect(bytes()).toContain("7f3a");
    server.received.splice(0);
  }
});
