import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, Socket, type OnReadOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { connected } from "../../adapters/daemon/connect.ts";
import { intakeBytes } from "../../adapters/daemon/daemon-limits.ts";
import { readFirstLine } from "../../adapters/daemon/lines.ts";
import { Intake } from "./intake.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "sg-"));
afterAll(() => rmSync(folder, { recursive: true }));

const megabytes = (count: number): Buffer => {
  const bytes = Buffer.alloc(count * 1024 * 1024);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = (index * 31 + (index >> 8)) & 0xff;
  return bytes;
};

/** An intake and the other end of its socket, connected over a socket file. */
async function pair(): Promise<{ readonly intake: Intake; readonly peer: Socket }> {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.sock`);
  const server = createServer({ allowHalfOpen: true }).listen(path);
  await once(server, "listening");
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const intake = new Intake((onread) => connect({ path, allowHalfOpen: true, onread }));
  expect((await connected(intake.socket)).ok).toBe(true);
  const peer = await accepted;
  server.close();
  return { intake, peer };
}

/** A sink that looks at a chunk only when it is done with it, as a system call made later would. */
class LateSink extends Writable {
  readonly parts: Buffer[] = [];
  mostHeld = 0;

  constructor(pausesMs: readonly (number | undefined)[], highWaterMark: number) {
    let next = 0;
    super({
      highWaterMark,
      write: (chunk: Buffer, _, done) => {
        const finish = (): void => {
          this.parts.push(Buffer.from(chunk));
          done();
        };
        this.mostHeld = Math.max(this.mostHeld, this.writableLength);
        const pauseMs = pausesMs[(next += 1) % pausesMs.length];
        if (pauseMs === undefined) finish();
        else if (pauseMs === 0) setImmediate(finish);
        else setTimeout(finish, pauseMs);
      },
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts);
  }
}

test("bytes that come together with the reply line go first, however many they are", async () => {
  for (const size of [0, 10, 300_000]) {
    const { intake, peer } = await pair();
    const body = Buffer.alloc(size, "rest ");
    peer.write(Buffer.concat([Buffer.from("reply\n"), body]));
    expect(await readFirstLine(intake.socket, 1_000_000, 5_000)).toEqual({ ok: true, value: "reply" });
    await sleep(20);
    const sink = new LateSink([undefined], 1_000_000);
    intake.divert(() => sink);
    intake.socket.resume();
    peer.end("more");
    await once(intake.socket, "end");
    expect(sink.bytes.equals(Buffer.concat([body, Buffer.from("more")]))).toBe(true);
    intake.socket.destroy();
  }
});

test("a slow sink gets 5 MB whole and in order, and they do not pile up before it", async () => {
  const { intake, peer } = await pair();
  const sink = new LateSink([1, 0, undefined], 64 * 1024);
  intake.divert(() => sink);
  intake.socket.resume();
  const sent = megabytes(5);
  peer.end(sent);
  await once(intake.socket, "end");
  await once(sink.end(), "finish");
  expect(sink.bytes.equals(sent)).toBe(true);
  expect(sink.mostHeld).toBeLessThanOrEqual(256 * 1024);
  intake.socket.destroy();
});

test("a peer that closed its half is still written to, and a route may drop what it has seen", async () => {
  const { intake, peer } = await pair();
  const seen: string[] = [];
  intake.divert((bytes) => void seen.push(bytes.toString()));
  intake.socket.resume();
  peer.end("last words");
  await once(intake.socket, "end");
  let answer = "";
  peer.setEncoding("utf8").on("data", (text: string) => (answer += text));
  intake.socket.end("answer");
  await once(peer, "end");
  expect([seen.join(""), answer]).toEqual(["last words", "answer"]);
});

/** A socket that is fed by hand, to the byte, and asks no kernel. */
function byHand(): { readonly intake: Intake; readonly feed: (bytes: Buffer) => boolean } {
  let options: OnReadOpts | undefined;
  const intake = new Intake((onread) => {
    options = onread;
    return new Socket();
  });
  const feed = (bytes: Buffer): boolean => {
    const buffer = typeof options?.buffer === "function" ? options.buffer() : new Uint8Array();
    buffer.set(bytes);
    return options?.callback(bytes.length, buffer) ?? false;
  };
  return { intake, feed };
}

test("the buffer is never written to while a sink still reads from it", async () => {
  const pauses = fc.array(fc.constantFrom(undefined, undefined, 0), { minLength: 1, maxLength: 5 });
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 30 });
  const property = fc.asyncProperty(pauses, chunks, fc.integer({ min: 1, max: 200 }), async (times, parts, mark) => {
    const { intake, feed } = byHand();
    const sink = new LateSink(times, mark);
    intake.divert(() => sink);
    for (const part of parts) {
      // Even a chunk that comes in spite of a pause is neither lost nor misplaced.
      const more = feed(Buffer.from(part));
      expect(more).toBe(!sink.writableNeedDrain);
      if (!more && part.length % 2 === 0) await once(sink, "drain");
    }
    await once(sink.end(), "finish");
    expect(sink.bytes.equals(Buffer.concat(parts))).toBe(true);
  });
  await fc.assert(property, { numRuns: runs });
});

test("many small chunks before a blocked sink hold little memory", async () => {
  const { intake, feed } = byHand();
  const held: Buffer[] = [];
  let unblock = (): void => undefined;
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => {
      held.push(chunk);
      unblock = done;
    },
    writev: (chunks, done) => {
      for (const { chunk } of chunks) if (chunk instanceof Buffer) held.push(chunk);
      done();
    },
  });
  intake.divert(() => sink);
  for (let index = 0; index < 1_000; index += 1) feed(Buffer.from("x"));
  unblock();
  await once(sink.end(), "finish");
  const memory = new Set(held.map(({ buffer }) => buffer));
  const bytes = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(held.length).toBe(1_000);
  expect(bytes).toBeLessThanOrEqual(4 * intakeBytes);
});
