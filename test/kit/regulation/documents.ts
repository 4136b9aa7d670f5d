/** Small policies that regulation has something to say about. */
import type { HazardText } from "../../../src/policy/document/shapes-rules.ts";
import type { LabelObject } from "../../../src/policy/document/shapes-labels.ts";
import { foreign, open, secret, tools } from "../proof/small.ts";
import type { SmallDocument } from "./small-run.ts";

/** Nobody can say what a result of this label holds. */
export const unsure: LabelObject = { confidentiality: "unsure", trust: "trusted" };

export const leak = (consent: "never" | "may" = "never"): HazardText => ({
  consent,
  why: "private data stays here",
  never: { flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } } },
});

/** The client sends whatever it likes to anyone, by itself (formal.md example 2). */
export const openHost = (consent: "never" | "may" = "never"): SmallDocument => ({
  host: { send: { open: "anyone" } },
  labels: {
    "s.read_pub": tools.reads(open),
    "s.read_priv": tools.reads(secret),
    "s.read_any": tools.reads(unsure),
    "s.mail_out": tools.sends(),
  },
  hazards: { leak: leak(consent) },
});

/** A repository that can be opened to everybody (formal.md example 1). */
export const repository = (consent: "never" | "may" = "never"): SmallDocument => ({
  labels: {
    "s.read_secret": tools.reads(secret),
    "s.write_repo": tools.writes("repo"),
    "s.grant": tools.grants("repo"),
    "s.look": tools.reads(foreign),
  },
  stores: { repo: { audience: "me" } },
  hazards: { leak: leak(consent) },
});

/** A payment owes a message to somebody outside, which cannot be sent any more once medical data was read (third example). */
export const debt = (consent: "never" | "may" = "never"): SmallDocument => ({
  flow: { mode: "strict" },
  labels: {
    "s.read_medical": tools.reads(secret),
    "s.pay": { effects: "write.local", args: { amount: { role: "identifier", sink: false } }, output: open },
    "s.notify": tools.sends(),
  },
  hazards: {
    leak: {
      ...leak(consent),
      never: { flow: { from: { confidentiality: "private" }, to: { effect: "write.external" } } },
    },
  },
  rules: [
    {
      id: "say-so",
      tier: "must",
      owed: { after: { tool: "s.pay" }, owe: { tool: "s.notify" }, within: 3 },
      why: "they must know",
    },
    { id: "local", tier: "allow", when: { tool: ["s.pay", "s.notify", "s.read_medical"] }, why: "ordinary" },
  ],
});
