// The proof of a terminal: bound to one ruling, and worth nothing in other hands.
import { closeSync, copyFileSync, linkSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identify } from "../../adapters/daemon/process-identity.ts";
import type { ProcessTable } from "../../adapters/daemon/terminal-origin.ts";
import { TerminalProofs } from "./terminal-proof.ts";

/** Every process sits at a terminal of its own and began before any client. */
const free: ProcessTable = {
  facts: () => ({ parent: 1, session: 1, terminal: 9, startedAt: 0 }),
  group: () => "",
  holders: () => [],
  listens: () => false,
};

let folder: string;
let proofs: TerminalProofs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-proof-"));
  proofs = new TerminalProofs(folder, free);
  proofs.guard(identify(process.pid));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Holds a file open while a proof is checked. */
function checked(held: string | undefined, ruling: string, file: string, pid = process.pid) {
  const open = held === undefined ? undefined : openSync(held, "r");
  try {
    return proofs.check(ruling, { file, pid });
  } finally {
    if (open !== undefined) closeSync(open);
  }
}

describe("a proof", () => {
  it("holds for the process that has its file open, once, and for its ruling", () => {
    const file = proofs.open("a once");
    expect(checked(file, "b once", file)).toMatchObject({ ok: false });
    expect(checked(file, "a once", file)).toEqual({ ok: true, value: undefined });
    expect(checked(undefined, "a once", file)).toMatchObject({ ok: false, error: expect.stringContaining("too old") });
  });

  it("is not for a process that only knows its name, or that has another file under it", () => {
    const named = proofs.open("a once");
    expect(checked(undefined, "a once", named)).toMatchObject({
      ok: false,
      error: expect.stringContaining("not the one"),
    });
    const [mine, other] = [proofs.open("a once"), proofs.open("b once")];
    copyFileSync(mine, join(folder, "copy"));
    expect(checked(join(folder, "copy"), "a once", mine)).toMatchObject({ ok: false });
    const held = openSync(other, "r");
    rmSync(other);
    const next = proofs.open("a once");
    renameSync(next, join(folder, "away"));
    linkSync(join(folder, "away"), other);
    expect(proofs.check("a once", { file: next, pid: process.pid })).toMatchObject({ ok: false });
    closeSync(held);
  });

  it("cannot be given where no client is known", () => {
    const none = new TerminalProofs(folder, free);
    const file = none.open("a once");
    const held = openSync(file, "r");
    expect(none.check("a once", { file, pid: process.pid })).toMatchObject({
      ok: false,
      error: expect.stringContaining("Only a server behind"),
    });
    closeSync(held);
  });
});
