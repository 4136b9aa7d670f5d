/** The policies of the worked examples of formal.md, with the tools that they speak of. */
import type { HazardText } from "../../../../src/policy/document/shapes-rules.ts";
import type { HostSection } from "../../../../src/policy/sections/host.ts";
import type { PolicyDocument } from "../../../../src/policy/canonical/policy-document.ts";
import type { ToolLabelsText } from "../../../../src/policy/document/shapes-labels.ts";

export type Consent = "never" | "may";

const local = { role: "content" as const, sink: false };
const open = { confidentiality: "public", trust: "trusted" };
const secret = { confidentiality: "private", trust: "trusted" };
const outside = { role: "content" as const, sink: true, audience: "anyone", bound: "private" };

const base = {
  version: 1,
  lattice: { confidentiality: ["public", "private"] },
  servers: { s: { trust: "trusted" } },
  flow: { mode: "strict" },
} satisfies PolicyDocument;

const reads = (output: NonNullable<ToolLabelsText["output"]>): ToolLabelsText => ({
  effects: "read.local",
  rest: local,
  output,
});
/** A mail to anyone; the bound is no limit, so that hazards alone decide. */
const mails: ToolLabelsText = { effects: "write.external.send", args: { text: outside }, rest: outside, output: open };

function leak(
  consent: Consent,
  to: NonNullable<HazardText["never"]["flow"]>["to"] = { effect: "write.external" },
): HazardText {
  return { consent, never: { flow: { from: { confidentiality: "private", audience: ["anyone"] }, to } } };
}

/** Example 1: a grant, then a reader whom nobody mediates. */
export function grantPolicy(consent: Consent): PolicyDocument {
  return {
    ...base,
    labels: {
      "s.read_secret": reads(secret),
      "s.write_repo": {
        effects: "write.local",
        args: { text: local },
        rest: local,
        output: open,
        writes: "repo",
      },
      "s.grant": {
        effects: "write.local.grant",
        rest: local,
        output: open,
        opens: { store: "repo", audience: "anyone" },
      },
    },
    stores: { repo: { audience: "me", label: open } },
    hazards: { leak: leak(consent) },
  };
}

/** Example 2: a host that can reach the web. */
export function hostPolicy(consent: Consent, host: HostSection): PolicyDocument {
  return {
    ...base,
    labels: {
      "s.read_pub": reads(open),
      "s.read_priv": reads(secret),
      "s.read_any": reads({ confidentiality: "unsure", trust: "trusted" }),
      "s.mail_self": { effects: "write.local", args: { text: local }, rest: local, output: open },
      "s.mail_out": mails,
    },
    stores: { archive: { audience: "me", label: secret } },
    host,
    hazards: { leak: leak(consent) },
  };
}

/** Example 3: a tempting call that makes a debt; 3u where the host may read the records by itself. */
export function debtPolicy(consent: Consent, host: HostSection = {}): PolicyDocument {
  return {
    ...base,
    labels: {
      "s.read_medical": reads(secret),
      "s.pay": { effects: "write.local.pay", rest: local, output: open },
      "s.notify": mails,
    },
    stores: { records: { audience: "me", label: secret } },
    host,
    hazards: { leak: leak(consent, "s.notify") },
    rules: [
      { id: "tell", tier: "must", owed: { after: "s.pay", owe: "s.notify", within: 4 }, why: "the payee is told" },
    ],
  };
}

/** Example 3, where telling the payee brings an answer that is private. */
export function answeringPolicy(): PolicyDocument {
  const policy = debtPolicy("never");
  return { ...policy, labels: { ...policy.labels, "s.notify": { ...mails, output: secret } } };
}

/** Examples 4 and 5: a tool to keep. */
export function keepPolicy(firm: boolean): PolicyDocument {
  return {
    ...base,
    labels: { "s.read_secret": reads(secret), "s.send_mail": mails },
    hazards: { leak: leak("never") },
    keep: [{ trace: ["s.send_mail"], firm }],
  };
}

/** Examples 7 and 8: once the web is enabled, whatever a run holds can be sent there by its host. */
export function webPolicy(): PolicyDocument {
  return {
    ...base,
    labels: {
      "s.read_priv": reads(secret),
      "s.enable_web": {
        effects: "write.local.config",
        rest: local,
        output: open,
        opens: { store: "web", audience: "anyone" },
      },
    },
    stores: { web: { audience: "me", label: open } },
    host: { send: { open: "anyone" } },
    hazards: {
      leak: leak("never", { effect: "write.external.send", store: { name: "web", audience: "anyone" } }),
    },
  };
}
