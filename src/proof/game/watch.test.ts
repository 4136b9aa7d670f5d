import { describe, expect, it } from "vitest";
import type { NeverText } from "../../policy/document/shapes-rules.ts";
import { slotsOf } from "../../policy/semantics/monitors.ts";
import { open, tools } from "../../../test/kit/proof/small.ts";
import { leak, openHost, repository } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled } from "../../../test/kit/regulation/small-run.ts";
import { type Watch, watchesOf } from "./watch.ts";

function watches(document: SmallDocument): readonly Watch[] {
  const policy = compiled(document);
  const found = watchesOf(policy, slotsOf(policy.ir));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

const moves = (document: SmallDocument): readonly string[] =>
  watches(document).flatMap(({ dangers }) => dangers.map(({ move }) => move));

const afterRead = (never: Partial<NeverText["sequence"]> = {}): SmallDocument => ({
  labels: { "s.read": tools.reads(open) },
  hazards: {
    h: {
      consent: "never",
      why: "order",
      never: { sequence: { after: { tool: "s.read" }, never: { effect: "execute" }, ...never } },
    },
  },
});

describe("what looms over a policy", () => {
  it("nothing, where only calls could bring a hazard about", () => {
    expect(moves({ ...openHost(), host: { send: "gated" } })).toEqual([]);
  });

  it("what the client sends or runs by itself", () => {
    expect(moves(openHost())).toEqual(["host.send"]);
    expect(moves({ ...afterRead(), host: { execute: "open" } })).toEqual(["host.execute"]);
  });

  it("an opened channel, for each group that it can reach; it is the stores that matter, not what is held", () => {
    expect(moves(repository())).toEqual(["fire repo anyone"]);
    expect(watches(repository()).map(({ looksAtHeld }) => looksAtHeld)).toEqual([false]);
    expect(watches(openHost()).map(({ looksAtHeld }) => looksAtHeld)).toEqual([true]);
  });

  it("what the host reads by itself leads there as well", () => {
    const document = {
      ...openHost(),
      ...repository(),
      host: { send: { open: "anyone" }, read: { open: "repo" } },
    } as const;
    const found = watches({ ...document, hazards: { leak: leak() } });
    expect(found.flatMap(({ dangers }) => dangers.map(({ move }) => move))).toEqual(["fire repo anyone", "host.send"]);
  });

  it("time that passes is followed", () => {
    expect(moves({ ...afterRead({ within: "1m" }), host: { execute: "open" } })).toEqual(["host.execute"]);
  });

  it("nothing of hazards that are watched only, or that the operator accepts", () => {
    const { leak: never } = openHost().hazards ?? {};
    expect(moves({ ...openHost(), hazards: { leak: { never: { call: {} }, ...never, mode: "observe" } } })).toEqual([]);
    expect(moves({ ...openHost(), accepts: ["leak"] })).toEqual([]);
    expect(moves({ ...openHost(), mode: "observe" })).toEqual([]);
  });

  it("a limit ends in a refusal that names the hazard", () => {
    const policy = compiled(openHost());
    const found = watchesOf(policy, slotsOf(policy.ir), () => ({ nodesMax: 4, effort: { left: 1 } }));
    expect(found).toMatchObject({ ok: false, error: expect.stringMatching(/^hazard `leak`: the game needs more/) });
  });
});
