import { createHash } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, describe, expect, it, vi } from "vitest";
import { programMsMax } from "./program-limits.ts";
import { type Program, askProgramNow, ProgramProcess } from "./program-process.ts";

const call = JSON.stringify({
  server: "mail",
  tool: "send",
  arguments: { count: 5, amount: JSON.rawJSON("12345678901234567890"), to: ["ann"] },
});

function program(source: string, name = "f"): Program {
  return { program: createHash("sha256").update(source).digest("hex"), name, source };
}

const turns = new ProgramProcess();
afterAll(() => turns.close());

/** Both ways of asking give the same. */
async function ask(asked: Program) {
  const said = await turns.ask(asked, call);
  expect(askProgramNow(asked, call)).toEqual(said);
  return said;
}

describe("a program of a rule", () => {
  it("is TypeScript or JavaScript, and is given the call", async () => {
    const typed =
      "type Call = { tool: string };\nexport function f(call: Call): boolean { return call.tool === 'send'; }";
    expect(await ask(program(typed))).toEqual({ ok: true, value: true });
    expect(await ask(program("export const f = ({ server }) => server !== 'mail'"))).toEqual({
      ok: true,
      value: false,
    });
    expect(await ask(program("import { posix } from 'node:path'; export const f = () => posix.sep === '/'"))).toEqual({
      ok: true,
      value: true,
    });
  });

  it("sees numbers that a double cannot hold as the text that they are", async () => {
    const exact =
      "export const f = ({ arguments: { count, amount } }) => count === 5 && amount === '12345678901234567890'";
    expect(await ask(program(exact))).toEqual({ ok: true, value: true });
  });

  it("cannot change the call that others see", async () => {
    const changes = "export const f = (call) => { call.tool = 'other'; return false; }";
    expect(await ask(program(changes))).toEqual({ ok: true, value: false });
    expect(await ask(program("export const f = ({ tool }) => tool !== 'send'"))).toEqual({ ok: true, value: false });
  });

  it.each([
    ["export const g = () => true", "it exports no function f"],
    ["export const f = true", "it exports no function f"],
    ["export const f = 1 +", "it threw: Expression expected"],
    ["export const f = () => { throw new Error('no\\nway') }", "it threw: no way"],
    ["export const f = () => { throw 'x' }", "it threw: a value that is not an error"],
    ["export const f = async () => true", "it returned a promise, not true or false"],
    ["export const f = () => 'yes'", "it returned string, not true or false"],
    ["export const f = () => undefined", "it returned undefined, not true or false"],
    [
      "import { x } from './other.ts'; export const f = () => x",
      'it threw: Failed to resolve module specifier "./other.ts"',
    ],
    ["throw new Error('at once'); export const f = () => true", "it threw: at once"],
  ])("without an answer says why: %s", async (source, cause) => {
    expect(await ask(program(source))).toEqual({ ok: false, error: cause });
  });

  it("is only loaded where there is no call", async () => {
    expect(await turns.ask(program("export const f = () => { throw new Error('asked') }"))).toEqual({
      ok: true,
      value: false,
    });
    expect((await turns.ask(program("export const f = 1"))).ok).toBe(false);
  });

  it("that hangs loses its process, and takes nothing from those behind it", async () => {
    const hangs = program("export const f = () => { for (;;); }");
    const late = { ok: false, error: `it did not answer within ${programMsMax} ms` };
    const answers = await Promise.all([
      turns.ask(hangs, call),
      turns.ask(program("export const f = () => true"), call),
      turns.ask(hangs, call),
      turns.ask(program("export const f = () => false"), call),
    ]);
    expect(answers).toEqual([late, { ok: true, value: true }, late, { ok: true, value: false }]);
    expect(askProgramNow(hangs, call)).toEqual(late);
  });

  it("that ends its process is not waited for, nor one that uses up its memory", async () => {
    const gone = { ok: false, error: "it ended the process that it ran in" };
    expect(await ask(program("export const f = () => process.exit(0)"))).toEqual(gone);
    const hoards = "export const f = () => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); }";
    expect(await ask(program(hoards))).toEqual(gone);
    expect(await turns.ask(program("export const f = () => true"), call)).toEqual({ ok: true, value: true });
  });

  it.each([
    "import { readFileSync } from 'node:fs'; export const f = () => readFileSync('/etc/hostname').length > 0",
    "import { writeFileSync } from 'node:fs'; export const f = () => writeFileSync('/tmp/sluicegate-program', '') === 1",
    "import { spawnSync } from 'node:child_process'; export const f = () => spawnSync('true').status === 0",
  ])("reads and writes no files and starts no process: %s", async (source) => {
    const said = await ask(program(source));
    expect(!said.ok && said.error).toContain("Access to this API has been restricted");
  });

  it("has no environment, and prints nowhere", async () => {
    const prints =
      "export const f = () => { process.stdout.write('x'); process.stderr.write('x'); return Object.keys(process.env).length > 0; }";
    expect(await ask(program(prints))).toEqual({ ok: true, value: false });
  });

  it("ends with whoever asked it, also in the middle of a program that never ends", async () => {
    const module = JSON.stringify(new URL("./program-process.ts", import.meta.url).href);
    const asks = `const { ProgramProcess } = await import(${module});
      const asked = new ProgramProcess();
      await asked.ask({ program: "d", name: "f", source: "export const f = () => false" }, "{}");
      void asked.ask({ program: "e", name: "f", source: "export const f = () => { for (;;); }" }, "{}");
      process.stdout.write("asked");`;
    const asker = spawn(process.execPath, ["--input-type=module", "--eval", asks], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(asker.stdout, "data");
    const children = (of: number | undefined): string =>
      spawnSync("ps", ["-o", "pid=", "--ppid", String(of)], { encoding: "utf8" }).stdout.trim();
    const child = children(asker.pid);
    expect(child).toMatch(/^[0-9]+$/);
    asker.kill("SIGKILL");
    const alive = (): boolean => spawnSync("ps", ["-p", child]).status === 0;
    await vi.waitFor(() => expect(alive()).toBe(false), { timeout: 5_000 });
  });
});
