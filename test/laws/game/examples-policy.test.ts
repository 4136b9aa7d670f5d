// The worked examples of formal.md through real policies and the engine: what is listed, called and released in each state.
import { describe, expect, it } from "vitest";
import type { Label } from "../../../src/core/label.ts";
import type { Q } from "../../../src/policy/semantics/state.ts";
import {
  type Consent,
  answeringPolicy,
  debtPolicy,
  grantPolicy,
  hostPolicy,
  keepPolicy,
  webPolicy,
} from "../../kit/proof/game/example-policies.ts";
import { Session } from "../../kit/proof/game/session.ts";

const allow = "allow";
const ask = "confirm";
const deny = "deny";

describe("example 1: a grant, then a reader whom nobody mediates", () => {
  const row = (consent: Consent, ...before: readonly string[]): Session => {
    const session = new Session(grantPolicy(consent));
    for (const tool of before) expect(session.perform(tool)).toBe(allow);
    return session;
  };

  it("everything is there as long as one more step can be taken back", () => {
    const all = { read_secret: allow, write_repo: allow, grant: allow };
    for (const before of [[], ["read_secret"], ["grant"]]) {
      expect(row("never", ...before).calls()).toEqual(all);
      expect(row("never", ...before).list()).toEqual(all);
    }
  });

  it("where others read, nothing private is written; where something private is, nobody else is let in", () => {
    for (const [consent, refused] of [
      ["never", deny],
      ["may", ask],
    ] as const) {
      const shared = { read_secret: allow, write_repo: refused, grant: allow };
      expect(row(consent, "read_secret", "grant").calls()).toEqual(shared);
      expect(row(consent, "read_secret", "grant").list()).toEqual(shared);
      const written = { read_secret: allow, write_repo: allow, grant: refused };
      expect(row(consent, "read_secret", "write_repo").calls()).toEqual(written);
      expect(row(consent, "read_secret", "write_repo").list()).toEqual(written);
    }
  });

  it("in a state that should never have been, nothing is left", () => {
    for (const [consent, left] of [
      ["never", deny],
      ["may", ask],
    ] as const) {
      const opened = row(consent, "read_secret", "write_repo").become((q: Q) => ({
        ...q,
        stores: q.stores.map((store) => ({ ...store, open: 0xff, audience: 0xff })),
      }));
      expect(opened.calls()).toEqual({ read_secret: left, write_repo: left, grant: left });
    }
  });
});

describe("example 2: a host that can reach the web", () => {
  const sends = { send: { open: "anyone" } } as const;

  it("a gated host asks by itself: everything is there", () => {
    const all = { read_pub: allow, read_priv: allow, read_any: allow, mail_self: allow, mail_out: allow };
    expect(new Session(hostPolicy("never", {})).calls()).toEqual(all);
  });

  it("no handles: what can only be private is not there, what may be is held back when it comes", () => {
    const session = new Session(hostPolicy("never", sends));
    const rest = { read_pub: allow, read_any: allow, mail_self: allow, mail_out: allow };
    expect(session.calls()).toEqual({ ...rest, read_priv: deny });
    expect(session.list()).toEqual({ ...rest, read_priv: deny });
    expect(session.perform("read_any")).not.toBe(allow);
    expect(session.calls()).toEqual({ ...rest, read_priv: deny });
  });

  it("a risk that a person accepts takes that one move out, and the mail still asks", () => {
    const session = new Session(hostPolicy("may", sends));
    const { verdict, reasons } = session.ask("read_priv");
    expect(verdict).toBe(ask);
    expect(reasons.flatMap(({ facts }) => facts["risks"] ?? [])).toEqual(["leak host.send"]);
    const said = { purpose: "example", principal: "me", expiresAt: Number.MAX_SAFE_INTEGER };
    session.fold({ kind: "granted", at: 1, grant: { kind: "accept", hazard: "leak", move: "host.send", ...said } });
    expect(session.perform("read_priv")).toBe(allow);
    const kept = { read_pub: allow, read_priv: allow, read_any: allow, mail_self: allow };
    expect(session.calls()).toEqual({ ...kept, mail_out: ask });
  });

  it("a host that also reads what is private cannot be kept from telling it: the policy says so before it starts", () => {
    const host = { ...sends, read: { open: ["archive"] } };
    expect(new Session(hostPolicy("never", host)).policy.startProblem).toMatch(/`leak`.*`host\.send`.*accepts/);
    expect(new Session({ ...hostPolicy("never", host), accepts: ["leak"] }).policy.startProblem).toBeUndefined();
  });
});

describe("example 3: a tempting call that makes a debt", () => {
  it("a payment is there as long as the payee can be told of it", () => {
    const session = new Session(debtPolicy("never"));
    expect(session.policy.startProblem).toBeUndefined();
    expect(session.calls()).toEqual({ read_medical: allow, pay: allow, notify: allow });
    expect(session.perform("pay")).toBe(allow);
    expect(session.calls()).toEqual({ read_medical: deny, pay: allow, notify: allow });
    expect(session.list()).toEqual({ read_medical: deny, pay: allow, notify: allow });
    expect(session.settle(session.dispatch("notify"), "run", true)).toBe(allow);
    expect(session.ask("read_medical").verdict).toBe(deny);
    expect(session.perform("notify")).toBe(allow);
    expect(session.ask("read_medical").verdict).toBe(allow);
  });

  it("after the records nobody may be told, so nobody may be paid", () => {
    const session = new Session(debtPolicy("never"));
    expect(session.perform("read_medical")).toBe(allow);
    expect(session.calls()).toEqual({ read_medical: allow, pay: deny, notify: deny });
  });

  it("where a person may answer for it, only telling asks", () => {
    const session = new Session(debtPolicy("may"));
    session.perform("pay");
    expect(session.calls()).toEqual({ read_medical: allow, pay: allow, notify: allow });
    session.perform("read_medical");
    expect(session.calls()).toEqual({ read_medical: allow, pay: allow, notify: ask });
  });

  it("3u: where the host may read the records by itself, nobody is ever paid", () => {
    const session = new Session(debtPolicy("never", { read: { open: ["records"] } }));
    expect(session.policy.startProblem).toBeUndefined();
    expect(session.ask("pay").verdict).toBe(deny);
    expect(session.perform("read_medical")).toBe(allow);
    expect(session.ask("pay").verdict).toBe(deny);
  });

  it("a call that meets the debt and brings something private with its success is there, or no debt could be met", () => {
    const session = new Session(answeringPolicy());
    expect(session.ask("pay").verdict).toBe(allow);
    session.perform("pay");
    expect(session.calls()).toEqual({ read_medical: deny, pay: allow, notify: allow });
    // A failure meets nothing, so what it brings is kept from the agent; a success may be shown.
    expect(session.settle(session.dispatch("notify"), "run", true)).toBe(deny);
    expect(session.perform("notify")).toBe(allow);
    expect(session.calls()).toEqual({ read_medical: allow, pay: deny, notify: deny });
  });
});

describe("example 4: tools to keep", () => {
  it("warns of a call that would cost one", () => {
    const session = new Session(keepPolicy(false));
    expect(session.calls()).toEqual({ read_secret: allow, send_mail: allow });
    const warned = session.ask("read_secret").reasons.map(({ mechanism, observed }) => [mechanism, observed]);
    expect(warned).toEqual([["regulate", true]]);
    session.perform("read_secret");
    expect(session.calls()).toEqual({ read_secret: allow, send_mail: deny });
  });

  it("refuses it where it is firm", () => {
    expect(new Session(keepPolicy(true)).calls()).toEqual({ read_secret: deny, send_mail: allow });
    const lost = new Session(keepPolicy(true)).become((q: Q) => ({
      ...q,
      held: [{ lo: 1 as Label, hi: 1 as Label }], // private, the one level above the lowest
    }));
    expect(lost.calls()).toEqual({ read_secret: deny, send_mail: deny });
  });
});

it("example 5: a move is refused although the state it leads to is the one it comes from", () => {
  const session = new Session(keepPolicy(false));
  session.perform("read_secret");
  const [reason] = session.ask("send_mail").reasons;
  expect(reason).toMatchObject({ code: "SG-HAZARD", rule: "leak" });
});

describe("example 7: two runs and what they share", () => {
  it("refuses whichever comes second, until one of the runs has ended", () => {
    const first = new Session(webPolicy()).begin("other");
    first.perform("read_priv", "run");
    expect(first.ask("enable_web", "other").verdict).toBe(deny);
    expect(first.ask("enable_web", "run").verdict).toBe(deny);
    first.end("run");
    expect(first.ask("enable_web", "other").verdict).toBe(allow);
    const second = new Session(webPolicy()).begin("other");
    second.perform("enable_web", "other");
    expect(second.ask("read_priv", "run").verdict).toBe(deny);
    expect(second.list("run")).toEqual({ read_priv: deny, enable_web: allow });
  });
});

it("example 8: a call in flight counts as if it had brought what it can bring", () => {
  const session = new Session(webPolicy());
  const call = session.dispatch("read_priv");
  expect(session.ask("enable_web").verdict).toBe(deny);
  session.begin("other");
  expect(session.ask("enable_web", "other").verdict).toBe(deny);
  expect(session.settle(call)).toBe(allow);
  expect(session.ask("enable_web").verdict).toBe(deny);
});

it("example 11: what one run has read does not bind the next, and what it has opened does", () => {
  const session = new Session(webPolicy());
  session.perform("read_priv");
  session.begin("next");
  session.end("run");
  expect(session.ask("enable_web", "next").verdict).toBe(allow);
  session.perform("enable_web", "next");
  session.begin("last");
  session.end("next");
  expect(session.ask("read_priv", "last").verdict).toBe(deny);
});
