/**
 * Training of all heads on labelled contexts, one after the other, because each looks at what those before it say: what
 * a result brings, then which tools a state rules out, then the class.
 */
import { callFeatures, listFeatures } from "../../oracles/foresight/embedded/features.ts";
import { bringFeatures } from "../../oracles/foresight/embedded/features.ts";
import { held } from "../../oracles/foresight/embedded/held.ts";
import type { View } from "../../oracles/foresight/embedded/view.ts";
import { expectedBits, listedFeatures, nextState, viewOf } from "../../oracles/foresight/embedded/view.ts";
import type { Head, HeadName, Weights } from "../../oracles/foresight/embedded/weights.ts";
import { judged, tableBits } from "../../oracles/foresight/embedded/weights.ts";
import type { Sample, Settings } from "./learn.ts";
import { calibrate, learn } from "./learn.ts";
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

type Seen = { readonly example: Example; readonly view: View; readonly kept: boolean };

/** Samples of a head, and which of them are for calibration. */
type Samples = { readonly trained: Sample[]; readonly kept: Sample[] };

/** Trains and calibrates all heads. The order of the examples counts; equal ones give equal bits. */
export function fit(examples: readonly Example[]): Weights {
  const seen = examples.map((example, index) => ({
    example,
    view: viewOf(example.context),
    kept: index % calibrationShare === calibrationShare - 1,
  }));
  const bring = {
    private: fitHead("private", bringSamples(seen, held.private)),
    secret: fitHead("secret", bringSamples(seen, held.secret)),
    untrusted: fitHead("untrusted", bringSamples(seen, held.untrusted)),
  };
  const filter = fitHead("filter", filterSamples(seen, bring));
  const critical = fitHead("critical", criticalSamples(seen, bring, filter));
  return { ...bring, filter, critical, unsafe: fitHead("unsafe", unsafeSamples(seen)) };
}

function fitHead(name: HeadName, { trained, kept }: Samples): Head {
  const bits = tableBits[name];
  return calibrate(learn(trained, { ...settings[name], bits, seed: bits * 31 + name.length }), bits, kept);
}

function unsafeSamples(seen: readonly Seen[]): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const subject = one.view.call?.subject;
    if (subject !== undefined)
      add(samples, one, { features: callFeatures(subject), yes: one.example.label === "unsafe" });
  }
  return samples;
}

function bringSamples(seen: readonly Seen[], bit: number): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const { brings } = one.example;
    const subject = one.view.call?.subject;
    if (brings === undefined || subject === undefined) continue;
    add(samples, one, { features: bringFeatures(subject), yes: (brings & bit) !== 0 });
  }
  return samples;
}

/** State in which the list after the example is shown, as the model will guess it. */
function stateAfter({ example, view }: Seen, heads: Pick<Weights, "private" | "secret" | "untrusted">): View["state"] {
  const { call } = view;
  if (call === undefined || example.label === "unsafe") return view.state;
  return nextState(view, expectedBits(call.step, call.subject, heads));
}

function filterSamples(seen: readonly Seen[], heads: Pick<Weights, "private" | "secret" | "untrusted">): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const { context, filtered, label } = one.example;
    const listed = listedFeatures(context.tools, stateAfter(one, heads), one.view.instruction);
    const called = context.pending === undefined ? "" : `${context.pending.server}.${context.pending.tool}`;
    context.tools.forEach(({ name }, index) => {
      // A refused call takes its own tool out by rule; whether the state does so too is not known from the label.
      if (label === "unsafe" && name === called) return;
      add(samples, one, { features: listed[index] ?? [], yes: filtered.includes(name) });
    });
  }
  return samples;
}

function criticalSamples(
  seen: readonly Seen[],
  heads: Pick<Weights, "private" | "secret" | "untrusted">,
  filter: Head,
): Samples {
  const samples = noSamples();
  for (const one of seen) {
    const { context, label } = one.example;
    if (label === "unsafe") continue;
    const state = stateAfter(one, heads);
    const scores = listedFeatures(context.tools, state, one.view.instruction).map((list) => judged(filter, list));
    const features = listFeatures(scores, state, context.pending !== undefined);
    add(samples, one, { features, yes: label === "critical" });
  }
  return samples;
}

const noSamples = (): Samples => ({ trained: [], kept: [] });

function add(samples: Samples, { kept }: Seen, sample: Sample): void {
  (kept ? samples.kept : samples.trained).push(sample);
}
