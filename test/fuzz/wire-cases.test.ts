import { expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { canonicalJson } from "../../src/wire/canonical.ts";
import { encodeMessage, serialise } from "../../src/wire/encode.ts";
import { fuzzOne, type FuzzSubject } from "./wire-cases.ts";
import { defaultWireLimits } from "../../src/wire/limits.ts";
import { headersFor } from "../../src/wire/headers.ts";
import { parseMessage } from "../../src/wire/parse/parse.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

// Inputs that once broke something stay here; the mutation loop is in test/fuzz.
test.each([
  ["empty", ""],
  ["request", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1.0}}}'],
  ["notification without params", '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
  ["response", '{"jsonrpc":"2.0","id":1,"result":{"a":[1e400]}}'],
  ["error", '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}'],
  ["batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"x":1}]'],
  ["a number for a name", String.raw`{"jsonrpc":"2.0","id":1,"result":{1.0:2,"a":"\u0001#0"}}`],
  ["oversize", `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(5000)}"}`],
  [
    "half a surrogate pair in a header parameter",
    String.raw`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{"region":"\ud800"},"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}`,
  ],
])("%s", (_name, text) => {
  expect(() => fuzzOne(bytesOf(text))).not.toThrow();
});

test("each check can fail", () => {
  const good: FuzzSubject = {
    serialise,
    encode: encodeMessage,
    canonical: canonicalJson,
    headers: headersFor,
    parse: parseMessage,
  };
  const bytes = bytesOf('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0}}');
  let calls = 0;
  const broken: readonly (readonly [string, Partial<FuzzSubject>])[] = [
    ["refused after encoding", { serialise: () => "{" }],
    ["not stable", { serialise: (message) => serialise(message).replace(":", ": ") }],
    ["do not mean what was judged", { encode: () => bytesOf('{"jsonrpc":"2.0","id":1,"method":"other"}') }],
    ["canonical form differs", { canonical: (value: Json) => canonicalJson(value) + String((calls += 1)) }],
    ["after white space", { parse: () => parseMessage(bytesOf("{}"), defaultWireLimits) }],
    ["our own headers", { headers: () => ({ "mcp-method": "other" }) }],
  ];
  for (const [problem, part] of broken) expect(() => fuzzOne(bytes, { ...good, ...part })).toThrow(problem);
  const answer = bytesOf('{"jsonrpc":"2.0","id":1,"result":{}}');
  const stale: FuzzSubject = { ...good, encode: (message) => message.raw ?? encodeMessage(message) };
  expect(() => fuzzOne(answer, stale)).toThrow("another id");
});
