/** Shape of the section `regulation`. */
import { effectActions, effectBases, effectReaches } from "../../core/effect.ts";
import type { LeaseText, ModelsText, PowerText, RegulationSection } from "../document-regulation.ts";
import { leasesMax, shortlistToolsMax } from "../limits.ts";
import type { Shape } from "./shape.ts";
import { flag, integer, list, mapOf, number, object, oneOf, optional, required, text } from "./shape.ts";
import { duration, someWords } from "./shapes.ts";

/** Without the paper's `external_write`: two spellings of one effect could give it two weights. */
const effectName = `^(${effectBases.join("|")})(\\.(${effectReaches.join("|")})(\\.(${effectActions.join("|")}))?)?$`;

/** Powers are sums of weights; a larger one would only lose digits. */
const weightMax = 1_000_000;

const filter = object<NonNullable<RegulationSection["filter"]>>("a filter", {
  mode: required(oneOf("filter mode", ["replace", "accumulate", "lease"]), "how lists are filtered"),
  ttl: optional(duration, "how long a tool that was hidden stays away, with `mode: lease`"),
});

const power = object<PowerText>(
  "a power section",
  {
    budget: optional(number("budget"), "power that one run may gather without a question"),
    weights: optional(
      mapOf("effect such as write.external.send", number("weight", 0, weightMax), effectName),
      "weights of effects and of all that is below them",
    ),
  },
  { notEmpty: true },
);

const lease = object<LeaseText>("a lease", {
  tool: required(someWords, "the tool, or tools that share the lease"),
  calls: optional(integer("calls", 1, 1_000_000), "calls in one run"),
  for: optional(duration, "how long after the run began"),
});

const models = object<ModelsText>("a models section", {
  embedded: optional(flag, "ask the embedded model"),
  judge: optional(text("judge"), "ask this judge of the section `judges`"),
});

export const regulation: Shape<RegulationSection> = object<RegulationSection>("a regulation section", {
  required: optional(flag, "start only if it runs; it always does"),
  filter: optional(filter, "how lists are filtered"),
  onUnsafe: optional(oneOf("choice", ["block-call", "confirm", "end-run"]), "what an unsafe prediction does"),
  epsilon: optional(number("probability", 0, 1), "tolerance of model predictions"),
  surpriseMax: optional(number("rate", 0, 1), "prediction error above which sinks ask"),
  power: optional(power, "how much one run may gather"),
  leases: optional(list(lease, 0, leasesMax), "tools that are there for a while"),
  shortlist: optional(integer("tools", 1, shortlistToolsMax), "tools shown to a run that has an instruction"),
  models: optional(models, "world models that are asked"),
});
