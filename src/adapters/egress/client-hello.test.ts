import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { connect } from "node:tls";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { helloBytesMax, parseClientHello } from "./client-hello.ts";

/** What the TLS library of Node truly sends. */
let real: Buffer;
beforeAll(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", servername: "Api.Example.com" });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [import("node:net").Socket];
  [real] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
});

const name = (text: string): string => {
  const bytes = Buffer.from(text);
  return word(bytes.length + 3) + "00" + word(bytes.length) + bytes.toString("hex");
};
const word = (value: number): string => value.toString(16).padStart(4, "0");
const extension = (type: number, content: string): string => word(type) + word(content.length / 2) + content;

/** A hello of our own, in one record or in many. */
function hello(extensions: string | undefined, recordBytes = 16_384): Buffer {
  const block = extensions === undefined ? "" : word(extensions.length / 2) + extensions;
  const body = `0303${"11".repeat(32)}00${word(2)}130101 00${block}`.replace(" ", "");
  const message = Buffer.from(`0100${word(body.length / 2)}${body}`, "hex");
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    const part = message.subarray(at, at + recordBytes);
    records.push(Buffer.from(`160301${word(part.length)}`, "hex"), part);
  }
  return Buffer.concat(records);
}

test("the hello of a real library names its server", () => {
  expect(parseClientHello(real)).toEqual({ kind: "hello", serverName: "api.example.com", encrypted: false });
});

test("a hello cut anywhere is waited for, and one in records of any size is read", () => {
  for (let length = 0; length < real.length; length += 1) {
    expect(parseClientHello(real.subarray(0, length))).toEqual({ kind: "more" });
  }
  const whole = hello(extension(0, name("a.example")));
  expect(parseClientHello(whole)).toMatchObject({ serverName: "a.example" });
  for (const size of [1, 3, 7, 50]) {
    expect(parseClientHello(hello(extension(0, name("a.example")), size))).toMatchObject({ serverName: "a.example" });
  }
  const early = Buffer.concat([whole, Buffer.from("1703030001ff", "hex")]);
  expect(parseClientHello(early), "early data may follow").toMatchObject({ serverName: "a.example" });
});

test("a meaningless extension is passed over, encrypted hello is told", () => {
  const grease = extension(0x0a0a, "") + extension(0xfe0d, "00");
  expect(parseClientHello(hello(grease + extension(0, name("a.example"))))).toEqual({
    kind: "hello",
    serverName: "a.example",
    encrypted: true,
  });
  expect(parseClientHello(hello(""))).toEqual({ kind: "hello", serverName: undefined, encrypted: false });
  expect(parseClientHello(hello(undefined))).toEqual({ kind: "hello", serverName: undefined, encrypted: false });
});

const twoNames = word(2 * 4) + "00000161" + "00000162";
test.each([
  ["two extensions of one type", hello(extension(0, name("a.example")) + extension(0, name("b.example")))],
  ["two names", hello(extension(0, twoNames))],
  ["a name of another type", hello(extension(0, "0004" + "01000161"))],
  ["an empty list", hello(extension(0, "0000"))],
  ["an empty name", hello(extension(0, name("")))],
  ["a name with a NUL", hello(extension(0, name("a.example\0.b")))],
  ["a name in more than ASCII", hello(extension(0, name("ä.example")))],
  ["an extension longer than the block", hello("000000ff00")],
  ["an empty record", Buffer.from("1603010000", "hex")],
  ["a record too long", Buffer.from("160301ffff00", "hex")],
  ["another record between", Buffer.concat([hello("", 7).subarray(0, 12), Buffer.from("1503010002", "hex")])],
  ["another handshake message", Buffer.from("160301000402000000", "hex")],
  ["a message too long", Buffer.from(`1603010004010${"f".repeat(5)}`, "hex")],
  ["bytes behind the extensions", corrupted()],
])("%s is malformed", (_what, bytes) => {
  expect(parseClientHello(bytes).kind).toBe("malformed");
});

function corrupted(): Buffer {
  const bytes = hello(extension(0, name("a.example")));
  // The extensions claim to be shorter than they are.
  bytes.writeUInt16BE(bytes.readUInt16BE(50) - 1, 50);
  return bytes;
}

test("other protocols are foreign at their first byte", () => {
  for (const text of ["GET / HTTP/1.1", "SSH-2.0", "\0\0", "\x16\x02"]) {
    expect(parseClientHello(Buffer.from(text, "latin1"))).toEqual({ kind: "foreign" });
  }
});

test("law: whatever arrives is read without a throw and never asked for more beyond the limit", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((tail) => Buffer.from([22, 3, 1, ...tail])),
    fc.record({ at: fc.nat(), to: fc.nat(255) }).map(({ at, to }) => {
      const copy = Buffer.from(real);
      copy[at % copy.length] = to;
      return copy;
    }),
    fc
      .nat(helloBytesMax * 2)
      .map((length) => Buffer.concat([Buffer.from("1603014000", "hex"), Buffer.alloc(length, 1)])),
  );
  fc.assert(
    fc.property(bytes, (one) => {
      const parsed = parseClientHello(one);
      if (one.length >= helloBytesMax) expect(parsed.kind).not.toBe("more");
      if (parsed.kind === "hello") expect(parsed.serverName ?? "").toMatch(/^[a-z0-9._-]{0,255}$/);
    }),
  );
});
