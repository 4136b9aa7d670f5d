// A policy in TypeScript. `node policy.ts > policy.json`, then `sluicegate policy check policy.json`.
import { block, confirm, effect, flow, label, labels, limit, policy, tool } from "sluicegate/policy";

/** Those who may be written to without a question. */
const colleagues = ["example.com", "example.org"];

/** Rules that several policies share are values like any others. */
const noFlood = limit.atMost(
  "few-mails",
  { of: "mail.send", count: 20, within: "1h" },
  { tier: "confirm", why: "an agent that floods an outbox is not at work" },
);

const mail = policy({
  extends: ["default"],
  labels: {
    "diary.read": labels({ effects: "read.external", output: "private" }),
    "mail.send": labels({ effects: "write.external.send", args: { to: "recipient", body: "content" } }),
  },
  hazards: {
    leak: { consent: "never", never: flow("private", effect("write.external")), why: "private data stays here" },
  },
  rules: [
    block("keep-private", effect("write.external", { data: label("private") }), { why: "private data stays here" }),
    confirm("strangers", tool("mail.send", { to: { not: { domain: colleagues } } }), { why: "not a colleague" }),
    noFlood,
  ],
  expect: [
    { trace: ["diary.read", { "mail.send": { to: "ann@example.com", body: "{read/today}" } }], verdict: "deny" },
    { trace: [{ "mail.send": { to: "ann@example.com", body: "hello" } }], verdict: "allow" },
  ],
});

process.stdout.write(`${JSON.stringify(mail, undefined, 2)}\n`);
