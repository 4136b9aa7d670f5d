import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ok } from "../../core/result.ts";
import type { ReadingText } from "../../policy/sections/readings.ts";
import { PolicyFiles } from "../policy/policy-files.ts";
import { AcceptedReadings } from "./accepted-readings.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { CardFiles, type CardState } from "./card-files.ts";

const made = (): CardFiles => new CardFiles(mkdtempSync(join(tmpdir(), "sg-cards-")));
const reading = (server: string, tool = "look", until = "2999-01-01"): ReadingText => ({
  server,
  tool,
  digest: "a".repeat(64),
  label: { effects: "read.local" },
  until,
});
const answer = (one: ServerAnswer["answer"], more: Partial<ServerAnswer> = {}): ServerAnswer => ({
  answer: one,
  at: "2026-01-01T00:00:00.000Z",
  by: "os:1",
  tools: { look: "a".repeat(64) },
  ...more,
});
const accept =
  (...readings: readonly ReadingText[]) =>
  ({ servers }: CardState) =>
    ok<CardState>({ servers, readings });
const readingsOf = (files: CardFiles) => {
  const found = files.source();
  return found.ok ? (found.value?.document.readings ?? []) : found.error;
};

describe("the files of cards", () => {
  it("hold nothing at first, and then what was answered, for their owner alone", async () => {
    const files = made();
    expect(files.read()).toEqual({ ok: true, value: { readings: [], servers: new Map() } });
    expect(
      await files.change(() => ok({ readings: [reading("s")], servers: new Map([["s", answer("accepted")]]) })),
    ).toMatchObject({ ok: true });
    expect(files.read()).toMatchObject({ ok: true, value: { readings: [{ server: "s" }] } });
    expect(new CardFiles(join(files.accepted, "../..")).read()).toEqual(files.read());
    for (const file of [files.accepted, files.answers]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(files.accepted, "..")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(files.accepted, "..")).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it("give no reading of a server that was refused or that something speaks against", async () => {
    const files = made();
    const servers = new Map([
      ["bad", answer("refused")],
      ["odd", answer("accepted", { flagged: "it left its scope" })],
    ]);
    await files.change(() => ok({ readings: ["good", "bad", "odd"].map((name) => reading(name)), servers }));
    expect(readingsOf(files)).toMatchObject([{ server: "good" }]);
  });

  it.each<[string, "accepted" | "answers", string, RegExp]>([
    ["cut off", "accepted", '{"version": 1, "readings": [{', /accepted\.json:\d+:\d+: .*\[SG-POLICY-SYNTAX\]$/],
    ["a word that is no member", "accepted", '{"version": 1, "readings": [{"server": "s"}]}', /accepted\.json:1:\d+/],
    [
      "a rule among readings",
      "accepted",
      '{"version": 1, "rules": [{"id": "R", "tier": "allow", "when": "*", "why": "w"}]}',
      /section `rules`.*remove it/,
    ],
    ["no JSON", "answers", "{", /answers\.json: it is not JSON: mend it/],
    ["another version", "answers", '{"version": 2, "servers": {}}', /`version: 1`/],
    ["an unknown answer", "answers", '{"version": 1, "servers": {"s": {"answer": "yes"}}}', /answer of `s`/],
    [
      "tools that are no digests",
      "answers",
      JSON.stringify({ version: 1, servers: { s: { ...answer("later"), tools: { a: 1 } } } }),
      /answer of `s`/,
    ],
    [
      "tools that are no map",
      "answers",
      JSON.stringify({ version: 1, servers: { s: { ...answer("later"), tools: [] } } }),
      /answer of `s`/,
    ],
    [
      "a flag that is no text",
      "answers",
      JSON.stringify({ version: 1, servers: { s: { ...answer("later"), flagged: 1 } } }),
      /answer of `s`/,
    ],
    [
      "too many servers",
      "answers",
      JSON.stringify({
        version: 1,
        servers: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`s${at}`, {}])),
      }),
      /more than 1000 servers/,
    ],
    ["too much", "accepted", " ".repeat(600_000), /too large/],
  ])("with %s are an error with its place and a way on, and are not written over", async (_, name, text, sentence) => {
    const files = made();
    await files.change(accept(reading("s")));
    writeFileSync(files[name], text);
    const read = files.read();
    expect(read.ok ? "" : read.error).toMatch(sentence);
    expect((await files.change(accept())).ok).toBe(false);
    expect(readFileSync(files[name], "utf8")).toBe(text);
  });

  it("that others could have written are refused", async () => {
    const files = made();
    await files.change(accept(reading("s")));
    chmodSync(files.accepted, 0o620);
    expect(files.read()).toMatchObject({ ok: false, error: expect.stringMatching(/alone may write.*chmod 600/) });
    chmodSync(files.accepted, 0o600);
    const linked = made();
    await linked.change(accept(reading("s")));
    renameSync(linked.accepted, `${linked.accepted}.old`);
    symlinkSync(files.accepted, linked.accepted);
    expect(linked.read().ok).toBe(false);
  });

  it("have a bound, and say how to make room", async () => {
    const files = made();
    const many = Array.from({ length: 1_025 }, (_, at) => reading("s", `t${at}`));
    expect(await files.change(accept(...many))).toMatchObject({
      ok: false,
      error: expect.stringContaining("remove those"),
    });
    expect(existsSync(files.accepted)).toBe(false);
  });

  it("make room for a refusal, however many cards were left open or however much their tools are called", async () => {
    const files = made();
    const many = Array.from({ length: 1_000 }, (_, at) => [`s${at}`, answer(at === 7 ? "isolated" : "later")] as const);
    expect((await files.change(() => ok({ readings: [], servers: new Map(many) }))).ok).toBe(true);
    const refused = ["bad", answer("refused")] as const;
    expect(
      (await files.change(({ servers }) => ok({ readings: [], servers: new Map([...servers, refused]) }))).ok,
    ).toBe(true);
    expect(files.servers()).toMatchObject({
      value: new Map([
        ["s7", expect.anything()],
        ["bad", expect.anything()],
      ]),
    });
    const tools = Object.fromEntries(
      Array.from({ length: 18 }, (_, at) => [`${at}`.repeat(1_000_000), "a".repeat(64)]),
    );
    const long = ["long", answer("later", { tools })] as const;
    expect((await files.change(({ servers }) => ok({ readings: [], servers: new Map([...servers, long]) }))).ok).toBe(
      true,
    );
    expect(files.servers()).toMatchObject({
      value: new Map([
        ["s7", expect.anything()],
        ["bad", expect.anything()],
      ]),
    });
    const isolated = ["long", answer("isolated", { tools })] as const;
    expect(
      await files.change(({ servers }) => ok({ readings: [], servers: new Map([...servers, isolated]) })),
    ).toMatchObject({
      ok: false,
      error: expect.stringMatching(/answers\.json may hold.*--forget/),
    });
    expect(files.servers().ok).toBe(true);
  });

  it("take the changes of several processes one after the other", async () => {
    const files = made();
    const others = Array.from({ length: 8 }, () => new CardFiles(join(files.accepted, "../..")));
    const done = await Promise.all(
      others.map((one, at) =>
        one.change(({ readings, servers }) => ok({ servers, readings: [...readings, reading(`s${at}`)] })),
      ),
    );
    expect(done.every(({ ok }) => ok)).toBe(true);
    expect(readingsOf(files)).toHaveLength(8);
  });
});

describe("a running gateway", () => {
  const anyone = { principal: "os:1", client: undefined, tag: undefined };
  const open = (files: CardFiles) => {
    const told: string[] = [];
    const readings = new AcceptedReadings(files, (text) => void told.push(text));
    const policies = new PolicyFiles([], (text) => void told.push(text), { readings });
    expect(policies.openAll().ok).toBe(true);
    readings.watch();
    const close = () => (policies.close(), readings.close());
    const source = () => policies.select(anyone).server("s").labelled;
    return { readings, policies, told, close, labelled: source };
  };

  it("decides under an answer at once, of its own and of another process", async () => {
    const files = made();
    const [one, two] = [open(files), open(files)];
    expect([one.labelled(), two.labelled()]).toEqual([false, false]);
    const before = one.policies.select(anyone).digest;
    await files.change(accept(reading("s")));
    one.readings.refresh();
    one.policies.refresh();
    expect(one.labelled()).toBe(true);
    expect(one.policies.select(anyone).digest).not.toBe(before);
    await vi.waitFor(() => expect(two.labelled()).toBe(true), { timeout: 5_000 });
    await files.change(accept());
    await vi.waitFor(() => expect([one.labelled(), two.labelled()]).toEqual([false, false]), { timeout: 5_000 });
    expect(one.policies.select(anyone).digest).toBe(before);
    one.close();
    two.close();
  });

  it("starts with a file that cannot be read, says so, and lets nothing count; what was read before stays", async () => {
    const files = made();
    await files.change(accept(reading("s")));
    const good = readFileSync(files.accepted, "utf8");
    const running = open(files);
    writeFileSync(files.accepted, "{");
    expect(running.readings.refresh()).toBe(false);
    expect(running.readings.fault).toContain("accepted.json");
    expect(running.labelled()).toBe(true);
    const fresh = open(files);
    expect(fresh.labelled()).toBe(false);
    expect(fresh.told[0]).toContain("accepted cards cannot be read");
    writeFileSync(files.accepted, good);
    fresh.readings.refresh();
    fresh.policies.refresh();
    expect(fresh.labelled()).toBe(true);
    running.close();
    fresh.close();
  });

  it("leaves out a reading once its last day is over", async () => {
    const files = made();
    const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    await files.change(accept(reading("s", "look", day(Date.now()))));
    const running = open(files);
    expect(running.labelled()).toBe(true);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
    running.policies.newDay(Date.now());
    running.policies.refresh();
    now.mockRestore();
    expect(running.labelled()).toBe(false);
    running.close();
  });
});
