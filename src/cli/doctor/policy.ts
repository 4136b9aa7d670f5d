/** The policy that `doctor` guards its tiny server with. It stands by itself, so nothing of the user's can loosen it. */
import type { PolicyDocument } from "../../policy/canonical/policy-document.ts";

export const doctorServer = "doctor";

export const doctorPolicy: PolicyDocument = {
  version: 1,
  lattice: {
    confidentiality: ["public", "private"],
    groups: ["me", "anyone"],
    clearance: { anyone: "public" },
  },
  labels: {
    "doctor.read_weather": {
      effects: ["read.local"],
      args: { place: "query" },
      output: { confidentiality: "public", trust: "trusted" },
    },
    "doctor.read_diary": { effects: ["read.local"], output: { confidentiality: "private", trust: "trusted" } },
    "doctor.send_postcard": {
      effects: ["write.external.send"],
      args: { to: "recipient", text: "content" },
      output: { confidentiality: "public", trust: "trusted" },
    },
    "doctor.burn_diary": { effects: ["write.local.delete"], output: { confidentiality: "public", trust: "trusted" } },
  },
  hazards: {
    "diary-leaves": {
      loss: "the diary becomes known",
      consent: "never",
      why: "the diary is private",
      never: { flow: { from: { confidentiality: "private" }, to: { effect: "write.external" } } },
    },
  },
  rules: [
    { id: "keep-diary", tier: "block", when: { tool: "doctor.burn_diary" }, why: "the diary must not be destroyed" },
    { id: "postcards", tier: "allow", when: { tool: "doctor.send_postcard" }, why: "postcards may be sent" },
  ],
  // Strict: once the diary was read nothing goes out, so a secret in disguise is stopped as surely as a plain one.
  flow: { mode: "strict" },
};
