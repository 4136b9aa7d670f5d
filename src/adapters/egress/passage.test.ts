import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Passage } from "./passage.ts";

const open: { destroy(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Two ends of a connection over the loopback of this machine. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [far, near]) {
    socket.on("error", () => {});
    open.push(socket);
  }
  return [far, near];
}

type Rig = {
  readonly program: Socket;
  readonly service: Socket;
  readonly passage: Passage;
  readonly taken: () => number;
  readonly ended: () => boolean;
};

async function rig(bytesMax = Infinity): Promise<Rig> {
  const [program, client] = await pair();
  const [service, upstream] = await pair();
  let taken = 0;
  let closed = false;
  const passage = new Passage(
    { client, upstream, destination: { host: "a.example", port: 5432 }, address: "93.184.215.14", special: false },
    {
      take: (bytes) => {
        if (taken + bytes > bytesMax) return false;
        taken += bytes;
        return true;
      },
      closed: () => {
        closed = true;
      },
    },
  );
  return { program, service, passage, taken: () => taken, ended: () => closed };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Unlike `once`, does not mind an error before. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));

test("a side that does not read stops the side that sends", { timeout: 20_000 }, async () => {
  const { program, service, passage, taken } = await rig();
  passage.open(Buffer.alloc(0), false);
  program.pause();
  const total = 64 * 1024 * 1024;
  service.resume();
  service.end(Buffer.alloc(total));
  // Wait until nothing moves any more.
  let before = -1;
  while (taken() !== before) {
    before = taken();
    await pause(300);
  }
  // Buffers of the kernel take some mebibytes; what we keep ourselves must not grow with the transfer.
  expect(taken()).toBeLessThan(total / 2);
  let received = 0;
  program.on("data", (bytes) => {
    received += bytes.length;
  });
  program.resume();
  await once(program, "end");
  expect(received).toBe(total);
});

test("each direction ends on its own, and what was sent last arrives", async () => {
  const { program, service, passage, ended } = await rig();
  passage.open(Buffer.from("first "), false);
  program.end("last");
  let heard = "";
  service.on("data", (bytes: Buffer) => {
    heard += bytes.toString();
  });
  await once(service, "end");
  expect(heard).toBe("first last");
  expect(passage.takeSent()).toBe(10);
  expect(passage.takeSent()).toBe(0);
  service.end("answer");
  const [answer] = (await once(program, "data")) as [Buffer];
  expect(answer.toString()).toBe("answer");
  await once(program, "end");
  while (!ended()) await pause(5);
});

test("a client that ended before it was let through still gets its answer", async () => {
  const { program, service, passage } = await rig();
  passage.open(Buffer.from("only"), true);
  const [heard] = (await once(service, "data")) as [Buffer];
  expect(heard.toString()).toBe("only");
  await once(service, "end");
  service.end("answer");
  const [answer] = (await once(program, "data")) as [Buffer];
  expect(answer.toString()).toBe("answer");
});

test("bytes that may not pass do not, the first ones included", async () => {
  const { service, passage } = await rig(3);
  let heard = 0;
  service.on("data", (bytes) => {
    heard += bytes.length;
  });
  passage.open(Buffer.from("four"), false);
  passage.cut("reset");
  await closed(service);
  expect(heard).toBe(0);
  expect(passage.takeSent()).toBe(0);
});

test("a side that breaks off breaks the other", async () => {
  const one = await rig();
  one.passage.open(Buffer.alloc(0), false);
  one.service.resume();
  one.program.resetAndDestroy();
  await closed(one.service);
  const two = await rig();
  two.passage.open(Buffer.alloc(0), false);
  two.program.resume();
  const broken = new Promise((resolve) => two.program.once("error", resolve));
  two.service.resetAndDestroy();
  expect(await broken).toMatchObject({ code: "ECONNRESET" });
});
