// The worked examples of formal.md as games built by hand: every row of their tables, by the solver and by the definitions.
import { describe, expect, it } from "vitest";
import { Definitions } from "../../kit/proof/game/definitions.ts";
import {
  type HandCall,
  type HandGame,
  type HandMove,
  gameOf,
  linesOf,
  stays,
} from "../../kit/proof/game/hand-built.ts";

const ends = (pass: HandCall["ends"][number]["pass"] = stays): HandCall["ends"] => [
  { pass, reject: stays },
  { failed: true, pass: stays },
];

describe("example 1: a grant, then a reader whom nobody mediates", () => {
  const reader: HandMove = { possible: ({ a }) => a === 1, bad: ({ r }) => r === 1 };
  const example = (consent: "never" | "may", fires: readonly HandMove[]): HandGame => ({
    variables: ["K", "r", "a"],
    consent,
    calls: [
      { name: "read_secret", ends: ends(() => ({ K: 1 })) },
      { name: "write_repo", atDispatch: ({ K, r }) => ({ r: K === 1 ? 1 : (r ?? 0) }), ends: ends() },
      { name: "grant", atDispatch: () => ({ a: 1 }), ends: ends() },
    ],
    fires,
  });
  const all = ["read_secret", "write_repo", "grant"];

  it("is regulated by what the reader may come to see", () => {
    expect(linesOf(example("never", [reader]))).toMatchObject({
      "000": ["safe", all, []],
      "100": ["safe", all, []],
      "001": ["safe", all, []],
      "101": ["critical", ["read_secret", "grant"], []],
      "110": ["critical", ["read_secret", "write_repo"], []],
      "111": ["unsafe", [], []],
    });
  });

  it("leaves the same to a person where the hazard does", () => {
    expect(linesOf(example("may", [reader]))).toMatchObject({
      "001": ["safe", all, []],
      "101": ["critical", ["read_secret", "grant"], ["write_repo"]],
      "110": ["critical", ["read_secret", "write_repo"], ["grant"]],
      "111": ["unsafe", [], all],
    });
  });

  it("has nothing to look ahead for without the reader: denial at the last moment would let the grant through", () => {
    expect(linesOf(example("never", []))["110"]).toEqual(["safe", all, []]);
  });
});

describe("example 2: a host that sends by itself", () => {
  type Variant = { readonly handles?: boolean; readonly reject?: boolean; readonly accepted?: boolean };
  const example = ({ handles = false, reject = true, accepted = false }: Variant, ...more: readonly HandMove[]) => {
    const secret = {
      pass: () => ({ K: 1 }) as const,
      ...(handles ? { withhold: stays } : {}),
      ...(reject ? { reject: stays } : {}),
    };
    const plain = { pass: stays, ...(reject ? { reject: stays } : {}) };
    return {
      variables: ["K"],
      consent: accepted ? "may" : "never",
      calls: [
        { name: "read_pub", ends: [plain] },
        { name: "read_priv", ends: [secret] },
        { name: "read_any", ends: [plain, secret] },
        { name: "mail_self", ends: [plain] },
        { name: "mail_out", bad: ({ K }) => K === 1, ends: [plain] },
        ...(handles ? [{ name: "open_handle", ends: [{ pass: () => ({ K: 1 }) as const }] }] : []),
      ],
      // The name of the host's act; accepting it takes exactly this bad move out.
      fires: [...(accepted ? [] : [{ bad: ({ K }) => K === 1 } satisfies HandMove]), ...more],
    } satisfies HandGame;
  };
  const mails = ["mail_self", "mail_out"];

  it("holds what it may not see, where there are handles", () => {
    expect(linesOf(example({ handles: true }))["0"]).toEqual([
      "critical",
      ["read_pub", "read_priv", "read_any", ...mails],
      [],
    ]);
  });

  it("refuses a call of which no result could be passed, where there are none", () => {
    expect(linesOf(example({}))).toEqual({
      "0": ["critical", ["read_pub", "read_any", ...mails], []],
      "1": ["unsafe", [], []],
    });
  });

  it("refuses every call that may bring it, where nothing can be done about a result", () => {
    expect(linesOf(example({ reject: false }))["0"]).toEqual(["critical", ["read_pub", ...mails], []]);
  });

  it("asks about the mail alone, once the host's act is accepted", () => {
    const all = ["read_pub", "read_priv", "read_any", ...mails];
    expect(linesOf(example({ accepted: true }))).toEqual({
      "0": ["safe", all, []],
      "1": ["critical", ["read_pub", "read_priv", "read_any", "mail_self"], ["mail_out"]],
    });
  });

  it("is lost at the start, where the host also reads by itself", () => {
    const reads: HandMove = { changes: () => ({ K: 1 }) };
    expect(linesOf(example({}, reads))).toMatchObject({ "0": ["unsafe", [], []], "1": ["unsafe", [], []] });
  });
});

describe("example 3: a tempting call", () => {
  const example = (consent: "never" | "may", fires: readonly HandMove[] = []): HandGame => ({
    variables: ["K", "d"],
    consent,
    calls: [
      { name: "read_medical", ends: ends(() => ({ K: 1 })) },
      { name: "pay", atDispatch: () => ({ d: 1 }), ends: ends() },
      {
        name: "notify",
        bad: ({ K }) => K === 1,
        ends: [
          { pass: () => ({ d: 0 }), reject: () => ({ d: 0 }) },
          { failed: true, pass: stays },
        ],
      },
    ],
    fires,
    goals: [({ d }) => d === 0],
  });
  const all = ["read_medical", "pay", "notify"];

  it("keeps a debt payable", () => {
    expect(linesOf(example("never"))).toEqual({
      "00": ["safe", all, []],
      // Its result could be rejected, but a call of which nothing may be shown is of no use to anybody.
      "01": ["critical", ["pay", "notify"], []],
      "10": ["critical", ["read_medical"], []],
      "11": ["unsafe", [], []],
    });
  });

  it("warns and does not refuse, where a person may answer for it", () => {
    expect(linesOf(example("may"))).toEqual({
      "00": ["safe", all, []],
      "01": ["safe", all, []],
      "10": ["critical", ["read_medical", "pay"], ["notify"]],
      "11": ["critical", ["read_medical", "pay"], ["notify"]],
    });
  });

  it("would not know it without the goal: safety alone lets both calls through", () => {
    const lines = linesOf({ ...example("never"), goals: [] });
    expect(lines["01"]?.[1]).toContain("read_medical");
    expect(lines["10"]?.[1]).toContain("pay");
  });

  it("3u: refuses the payment everywhere, where the host may read by itself; it takes a second round to see", () => {
    const reads: HandMove = { changes: () => ({ K: 1 }) };
    const lines = linesOf(example("never", [reads]));
    expect(Object.values(lines).flatMap(([, free, asked]) => [...free, ...asked])).not.toContain("pay");
    expect(lines["01"]?.[0]).toBe("unsafe");
    const definitions = new Definitions(gameOf(example("never", [reads])), "all");
    const first = definitions.reaching(0, definitions.closed([true, true, true, true]));
    expect(first).toEqual([true, true, true, false]);
    expect(definitions.closed(first)).toEqual([true, true, false, false]);
  });
});

describe("example 4: tools to keep", () => {
  const example = (firm: boolean): HandGame => ({
    variables: ["K"],
    consent: "never",
    calls: [
      { name: "read_secret", ends: ends(() => ({ K: 1 })) },
      { name: "send_mail", bad: ({ K }) => K === 1, ends: ends() },
    ],
    goals: firm ? [["send_mail"]] : [],
  });

  it("refuses a call that would cost a firm one", () => {
    // The table does not say whether a result can be rejected, and it makes no difference.
    const [read, send] = example(true).calls;
    if (read === undefined || send === undefined) throw new Error("there are two calls");
    const shown = { ...example(true), calls: [{ ...read, ends: [{ pass: () => ({ K: 1 }) as const }] }, send] };
    expect(linesOf(shown)).toEqual({ "0": ["critical", ["send_mail"], []], "1": ["unsafe", [], []] });
    expect(linesOf(example(true))).toEqual({ "0": ["critical", ["send_mail"], []], "1": ["unsafe", [], []] });
  });

  it("lets it through where it is no goal; example 5: the mail is refused although its target is harmless", () => {
    expect(linesOf(example(false))).toEqual({
      "0": ["safe", ["read_secret", "send_mail"], []],
      "1": ["critical", ["read_secret"], []],
    });
  });
});

describe("example 7: two runs and what they share", () => {
  const example: HandGame = {
    variables: ["one", "two", "web"],
    consent: "never",
    calls: [
      { name: "read by 1", ends: ends(() => ({ one: 1 })) },
      { name: "enable by 2", atDispatch: () => ({ web: 1 }), ends: ends() },
      { name: "end of 1", ends: [{ pass: () => ({ one: 0 }) }] },
    ],
    fires: [{ possible: ({ web }) => web === 1, bad: ({ one, two }) => one === 1 || two === 1 }],
  };

  it("refuses whichever comes second, until one of the runs has ended", () => {
    const lines = linesOf(example);
    expect(lines["000"]?.[1]).toEqual(["read by 1", "enable by 2", "end of 1"]);
    expect(lines["100"]?.[1]).toEqual(["read by 1", "end of 1"]);
    expect(lines["001"]?.[1]).toEqual(["enable by 2", "end of 1"]);
  });
});

it("example 8: a call in flight counts as if it had brought what it can bring", () => {
  const lines = linesOf({
    variables: ["K", "sent", "web"],
    consent: "never",
    calls: [
      // The reserved state already holds the worst end of each call on its way, and nothing is unlocked in it.
      { name: "read_priv", atDispatch: () => ({ sent: 1 }), ends: ends() },
      { name: "enable_web", atDispatch: () => ({ web: 1 }), ends: ends() },
    ],
    fires: [{ possible: ({ web }) => web === 1, bad: ({ K, sent }) => K === 1 || sent === 1 }],
  });
  expect(lines["000"]?.[1]).toEqual(["read_priv", "enable_web"]);
  expect(lines["010"]?.[1]).toEqual(["read_priv"]);
  expect(lines["001"]?.[1]).toEqual(["enable_web"]);
});
