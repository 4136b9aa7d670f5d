/**
 * Training of all heads on labelled contexts, one after the other, because each uses the predictions of those before
 * it: the labels of a result, then the tools that a state rules out, then the class.
 */
import { bringFeatures, callFeatures, listFeatures } from "../../oracles/foresight/embedded/features.ts";
import { held } from "../../oracles/foresight/embedded/held.ts";
import { type View, expectedBits, listedFeatures, nextState, viewOf } from "../../oracles/foresight/embedded/view.ts";
import { type Head, type HeadName, type Weights, judged, tableBits } from "../../oracles/foresight/embedded/weights.ts";
import { type Sample, type Settings, calibrate, learn } from "./learn.ts";
import type { Example } from "./scenario.ts";

/** Every so many-th example is kept for calibration and never trained on. */
const calibrationShare = 6;

const settings: { readonly [name in HeadName]: Omit<Settings, "bits" | "seed"> } = {
  unsafe: { epochs: 4, rate: 0.05, decay: 1e-4 },
  critical: { epochs: 4, rate: 0.1, decay: 1e-4 },
  filter: { epochs: 3, rate: 0.05, decay: 1e-4 },
  private: { epochs: 6, rate: 0.1, decay: 1e-4 },
  secret: { epochs: 6, rate: 0.1, decay: 1e-4 },
  untrusted: { epochs: 6, rate: 0.1, decay: 1e-4 },
};

/** The features of an example that do not depend on weights: computed once for all folds. */
export type Prepared = {
  readonly example: Example;
  readonly view: View;
  /** Features of the pending call; undefined where a list is judged. */
  readonly call: Int32Array | undefined;
  readonly bring: Int32Array | undefined;
};

export function prepare(examples: readonly Example[]): readonly Prepared[] {
  return examples.map((example) => {
    const view = viewOf(example.context);
    const subject = view.call?.subject;
    const isKnown = subject === undefined || example.brings === undefined;
    return {
      example,
      view,
      call: subject === undefined ? undefined : Int32Array.from(callFeatures(subject)),
      bring: isKnown ? undefined : Int32Array.from(bringFeatures(subject)),
    };
  });
}

/** The features that depend on the result heads: the state after the call, and each tool in it. */
type Seen = Prepared & {
  readonly kept: boolean;
  readonly state: View["state"];
  readonly tools: readonly Int32Array[];
};

/** Samples of a head, and which of them are for calibration. */
type Samples = { readonly trained: Sample[]; readonly kept: Sample[] };

/** Trains and calibrates all heads. The order of the examples counts; equal ones give equal bits. */
export function fit(prepared: readonly Prepared[]): Weights {
  const split = prepared.map((one, index) => ({ ...one, kept: index % calibrationShare === calibrationShare - 1 }));
  const bring = {
    private: fitHead("private", bringSamples(split, held.private)),
    secret: fitHead("secret", bringSamples(split, held.secret)),
    untrusted: fitHead("untrusted", bringSamples(split, held.untrusted)),
  };
  const seen = split.map((one): Seen => {
    const state = stateAfter(one, bring);
    const listed = listedFeatures(one.example.context.tools, state, one.view.instruction);
    return { ...one, state, tools: listed.map((features) => Int32Array.from(features)) };
  });
  const filter = fitHead("filter", filterSamples(seen));
  const critical = fitHead("critical", criticalSamples(seen, filter));
  return { ...bring, filter, critical, unsafe: fitHead("unsafe", unsafeSamples(seen)) };
}

function fitHead(name: HeadName, { trained, kept }: Samples): Head {
  const bits = tableBits[name];
  return calibrate(learn(trained, { ...settings[name], bits, seed: bits * 31 + name.length }), bits, kept);
}

type Split = Prepared & { readonly kept: boolean };

function unsafeSamples(seen: readonly Split[]): Samples {
  const samples = noSamples();
  for (const one of seen) {
    if (one.call !== undefined) add(samples, one, { features: one.call, yes: one.example.label === "unsafe" });
  }
  return samples;
}

function bringSamples(seen: readonly Split[], bit: number): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const brings = one.example.brings ?? 0;
    if (one.bring !== undefined) add(samples, one, { features: one.bring, yes: (brings & bit) !== 0 });
  }
  return samples;
}

/** State in which the list after the example is shown, as the model will guess it. */
function stateAfter(
  { example, view }: Prepared,
  heads: Pick<Weights, "private" | "secret" | "untrusted">,
): View["state"] {
  const { call } = view;
  if (call === undefined || example.label === "unsafe") return view.state;
  return nextState(view, expectedBits(call.step, call.subject, heads));
}

function filterSamples(seen: readonly Seen[]): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const { context, filtered, label } = one.example;
    const called = context.pending === undefined ? "" : `${context.pending.server}.${context.pending.tool}`;
    one.tools.forEach((features, index) => {
      const name = context.tools[index]?.name ?? "";
      // A refused call takes its own tool out by rule; whether the state does so too is not known from the label.
      if (label === "unsafe" && name === called) return;
      add(samples, one, { features, yes: filtered.includes(name) });
    });
  }
  return samples;
}

function criticalSamples(seen: readonly Seen[], filter: Head): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const { context, label } = one.example;
    if (label === "unsafe") continue;
    const scores = one.tools.map((features) => judged(filter, features));
    const features = Int32Array.from(listFeatures(scores, one.state, context.pending !== undefined));
    add(samples, one, { features, yes: label === "critical" });
  }
  return samples;
}

const noSamples = (): Samples => ({ trained: [], kept: [] });

function add(samples: Samples, { kept }: Split, sample: Sample): void {
  (kept ? samples.kept : samples.trained).push(sample);
}
