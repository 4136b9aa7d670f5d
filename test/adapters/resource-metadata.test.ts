import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { fetchMetadata, metadataPath, metadataPathAt } from "../../src/adapters/http/resource-metadata.ts";
import { json, TestServer } from "../kit/server/test-server.ts";

let server: TestServer;
afterEach(() => server.stop());

const documents: Readonly<Record<string, (response: ServerResponse) => void>> = {
  good: (response) => json(response, { resource: "https://api.example" }),
  list: (response) => json(response, []),
  html: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  broken: (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
  large: (response) => json(response, { filler: "x".repeat(70_000) }),
  missing: (response) => void response.writeHead(404).end(),
  failing: (response) => void response.writeHead(500).end(),
  away: (response) => void response.writeHead(302, { location: "http://evil.example/" }).end(),
};

test("only a readable document of the server itself is handed on", async () => {
  server = await new TestServer(({ path }, response) => documents[path.slice(1)]?.(response)).start();
  const target = { kind: "http", url: `${server.url}/mcp`, flavour: "auto", headers: { "x-key": "k" } } as const;
  const status = async (name: string): Promise<number> => (await fetchMetadata(target, `/${name}`)).status;
  const found = await Promise.all(Object.keys(documents).map(async (name) => [name, await status(name)]));
  expect(Object.fromEntries(found)).toEqual({
    good: 200,
    missing: 404,
    ...Object.fromEntries(["list", "html", "broken", "large", "failing", "away"].map((name) => [name, 502])),
  });
  // What the operator configured goes along, as with every other request.
  expect(server.asked[0]?.headers["x-key"]).toBe("k");
  const unsafe = await fetchMetadata({ ...target, url: "http://api.example/mcp" }, metadataPath);
  expect([unsafe.status, String(unsafe.body)]).toEqual([502, expect.stringContaining("unencrypted")]);
});

test("a document is asked for where the server keeps it", async () => {
  server = await new TestServer(() => undefined).start();
  const serves = (name: string | undefined): boolean => name === undefined || name === "users";
  const at = (suffix: string, url: string): string | undefined =>
    metadataPathAt(`${metadataPath}${suffix}`, new URL(url), serves);
  expect(at("", "https://h/v1/mcp")).toBe(metadataPath);
  for (const suffix of ["/mcp", "/s/users/mcp", "/r/token/mcp", "/v1/mcp"]) {
    expect(at(suffix, "https://h/v1/mcp")).toBe(`${metadataPath}/v1/mcp`);
  }
  expect(at("/mcp", "https://h/")).toBe(metadataPath);
  for (const suffix of ["/s/other/mcp", "/v1", "/../secret"]) expect(at(suffix, "https://h/v1/mcp")).toBeUndefined();
});
