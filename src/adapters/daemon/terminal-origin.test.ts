// Who sits at a terminal: decided on lineage, age, control group, terminal and sockets alone.
import { describe, expect, it } from "vitest";
import { type ProcessFacts, type ProcessTable, terminalFault } from "./terminal-origin.ts";
import { pseudoTerminalIndex } from "./process-table.ts";

type Row = Partial<ProcessFacts> & { readonly group?: string; readonly listens?: boolean; readonly holds?: number };

/** init 1 > service manager 2 > client 10 (started at 100) > its shell 11; a terminal program 20 > shell 21. */
const usual: Readonly<Record<number, Row>> = {
  1: { parent: 0, startedAt: 0 },
  2: { parent: 1, startedAt: 5 },
  10: { parent: 2, startedAt: 100, group: "client" },
  11: { parent: 10, startedAt: 200, session: 11, terminal: 7, group: "client" },
  20: { parent: 2, startedAt: 50, group: "desktop", holds: 9 },
  21: { parent: 20, startedAt: 300, session: 21, terminal: 9, group: "desktop" },
};

function faultOf(pid: number, more: Readonly<Record<number, Row>> = {}): string | undefined {
  const rows: Readonly<Record<number, Row>> = { ...usual, ...more };
  const table: ProcessTable = {
    facts: (one) => {
      const row = rows[one];
      return row === undefined ? undefined : { parent: 1, session: one, terminal: 0, startedAt: 0, ...row };
    },
    group: (one) => rows[one]?.group ?? "",
    holders: (terminal) =>
      Object.keys(rows)
        .map(Number)
        .filter((one) => rows[one]?.holds === terminal),
    listens: (one) => rows[one]?.listens === true,
  };
  return terminalFault(pid, [{ process: { pid: 10, startedAt: "100" }, group: "client" }], table);
}

describe("the terminal of an approver", () => {
  it("of a user is no fault, also where the terminal program was started after the client", () => {
    expect(faultOf(21)).toBeUndefined();
    expect(faultOf(21, { 20: { parent: 2, startedAt: 250, group: "window", holds: 9 } })).toBeUndefined();
    expect(faultOf(21, { 20: { parent: 0, startedAt: 250, holds: 9 } }), "entered from outside").toBeUndefined();
  });

  it.each<readonly [string, number, Readonly<Record<number, Row>>, RegExp]>([
    ["a process that has ended", 99, {}, /has ended/],
    ["no terminal", 20, {}, /no controlling terminal/],
    ["a child of the client", 11, {}, /guarded client/],
    [
      "an orphan of it, adopted by init",
      30,
      { 30: { parent: 1, startedAt: 300, terminal: 9, group: "client" } },
      /guarded/,
    ],
    [
      "one adopted by the service manager",
      30,
      { 30: { parent: 2, startedAt: 300, terminal: 9, group: "client" } },
      /guarded/,
    ],
    [
      "the other end held by a child of the client",
      21,
      { 31: { parent: 11, startedAt: 300, holds: 9 } },
      /guarded client/,
    ],
    ["a session that a child of the client leads", 21, { 21: { ...usual[21], session: 11 } }, /guarded client/],
    ["a terminal that is driven over a socket", 21, { 20: { ...usual[20], listens: true } }, /over a socket/],
    [
      "lineage that does not end",
      40,
      { 40: { parent: 41, startedAt: 300, terminal: 7 }, 41: { parent: 40, startedAt: 300 } },
      /guarded/,
    ],
  ])("%s", (_name, pid, more, fault) => {
    expect(faultOf(pid, more)).toMatch(fault);
  });

  it("is a pseudo-terminal by its device number, or none", () => {
    expect(pseudoTerminalIndex(34816)).toBe(0);
    expect(pseudoTerminalIndex(34816 + 17)).toBe(17);
    expect(pseudoTerminalIndex((1 << 20) | 34816 | 2)).toBe(258);
    expect(pseudoTerminalIndex(1025)).toBeUndefined();
  });
});
