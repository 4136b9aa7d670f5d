import { closeSync, openSync, readSync, rmSync, writeSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { effectActions, effectOutcomes } from "../../core/isolation/effect-trace.ts";
import { recordRingBytes, repeatsWrittenBytesMax, unmarkedBytesMax } from "./tracer-limits.ts";
import type { Arena } from "./native.ts";
import { type Act, decodeRecords, encodeRecord, recordBytesMax } from "./record.ts";
import { Repeats } from "./supervisor/listener.ts";
import { prepareRing, RingReader, ringFileBytes, RingWriter } from "./ring.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "sluicegate-ring-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A mapping as the supervisor has it, kept in step with the file by hand because there is no mapping without koffi. */
function ring() {
  const fd = openSync(join(folder, String(files++)), "w+");
  prepareRing(fd);
  const bytes = Buffer.alloc(ringFileBytes);
  const file: Arena = { address: 0, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const writer = new RingWriter(file);
  const reader = new RingReader(fd, 0);
  const see = (): void => void readSync(fd, bytes, 16, 8, 16);
  return {
    writer,
    reader,
    see,
    put: (act: Act) => {
      see();
      writer.put(act, 7, 1);
      writeSync(fd, bytes, 0, 16, 0);
      writeSync(fd, bytes, 24, bytes.length - 24, 24);
    },
    close: () => closeSync(fd),
    break: (head: number) => writeSync(fd, new Uint32Array([head, head]), 0, 8, 0),
  };
}

const read = (path: string): Act => ({ action: "file-read", outcome: "unknown", path });

test("a record comes back as it was written", () => {
  const text = fc.option(fc.string({ minLength: 1, maxLength: 60 }), { nil: undefined });
  const act = fc.record({
    action: fc.constantFrom(...effectActions),
    outcome: fc.constantFrom(...effectOutcomes),
    path: text,
    target: text,
    address: text,
    extra: text,
    transport: fc.constantFrom("tcp", "udp", "unix", undefined),
    port: fc.nat({ max: 65_535 }),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 5 }), (all) => {
      const acts = all.map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)));
      const buffer = Buffer.alloc(recordBytesMax);
      // The round trip is of bytes; ASCII is the part of them that is the same in both encodings.
      const parts = acts.map((one) => Buffer.from(buffer.subarray(0, encodeRecord(one as Act, 3, 10, buffer))));
      const seen = decodeRecords(Buffer.concat(parts), 5);
      expect(seen?.length).toBe(acts.length);
      for (const [index, one] of (seen ?? []).entries()) {
        const given = all[index];
        expect([one.action, one.outcome, one.process, one.at, one.grade]).toEqual([
          given?.action,
          given?.outcome,
          3,
          15,
          "hint",
        ]);
        expect([one.path ?? one.program, one.target, one.address]).toEqual([
          given?.path,
          given?.target,
          given?.address,
        ]);
        expect([one.detail ?? one.commandLine, one.transport]).toEqual([given?.extra, given?.transport]);
        expect(one.port).toBe(given?.transport === "tcp" || given?.transport === "udp" ? given.port : undefined);
      }
    }),
    { numRuns: runs },
  );
});

test("bytes that are no records are refused, never believed and never a throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      const seen = decodeRecords(Buffer.from(bytes), 0);
      for (const one of seen ?? []) expect(effectActions).toContain(one.action);
    }),
    { numRuns: runs },
  );
});

test("law: nothing is lost, doubled or out of order, however often the ring goes round, unless it says so", () => {
  const { put, reader, close } = ring();
  const size = 3_000;
  let next = 0;
  let expected = 0;
  for (let round = 0; round < 8; round++) {
    const count = 40 + round * 9;
    for (let i = 0; i < count; i++) put(read(`/${String(next++).padEnd(size, "x")}`));
    for (const one of reader.read() ?? []) expect(one.path?.startsWith(`/${expected++}x`)).toBe(true);
    expect(expected).toBe(next);
  }
  expect(next * size).toBeGreaterThan(recordRingBytes);
  expect(reader.lost).toBe(0);
  expect(reader.read()).toEqual([]);
  close();
});

test("a full ring counts what it cannot take, and takes more once it was read", () => {
  const { put, reader, close } = ring();
  const big = read(`/${"x".repeat(4_000)}`);
  const fits = Math.floor(recordRingBytes / (4_001 + 32));
  for (let i = 0; i < fits + 3; i++) put(big);
  expect(reader.read()?.length).toBe(fits);
  expect(reader.lost).toBe(3);
  put(big);
  expect(reader.read()?.length).toBe(1);
  close();
});

test("a drain of more than a few records is marked before it reads", () => {
  const { put, reader, writer, close } = ring();
  const before = writer.drains;
  put(read("/a"));
  reader.read();
  put(read(`/${"b".repeat(unmarkedBytesMax)}`));
  expect(writer.drains).toBe(before);
  reader.read();
  put(read("/a"));
  expect(writer.drains).toBe(before + 1);
  close();
});

test("law: whatever is done between two drains is read with the second, however often it was done before", () => {
  const path = fc.constantFrom("/a", "/b", `/${"c".repeat(300)}`, `/${"d".repeat(400)}`);
  const times = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 50, max: 120 }));
  const window = fc.array(fc.tuple(path, times), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(window, { maxLength: 12 }), (windows) => {
      const { put, reader, writer, close, see } = ring();
      const repeats = new Repeats(writer);
      for (const done of windows) {
        for (const [one, count] of done)
          for (let i = 0; i < count; i++) {
            see();
            if (!repeats.has(() => one)) put(read(one));
          }
        const seen = reader.read() ?? [];
        expect(new Set(seen.map((one) => one.path))).toEqual(new Set(done.map(([one]) => one)));
        const bytes = seen.reduce((sum, one) => sum + (one.path?.length ?? 0) + 32, 0);
        expect(bytes).toBeLessThan(repeatsWrittenBytesMax + 5 * 2_000);
      }
      close();
    }),
    { numRuns: Math.ceil(runs / 4) },
  );
});

test("a head that makes no sense is an end, not an allocation", () => {
  const broken = ring();
  broken.break(0xffffffff);
  expect(broken.reader.read()).toBeUndefined();
  broken.close();
});
