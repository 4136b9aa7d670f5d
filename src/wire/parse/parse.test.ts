import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRawNumber, member } from "../../core/json.ts";
import { encodeBatch, encodeMessage, serialise, withId } from "../encode.ts";
import { defaultWireLimits } from "../limits.ts";
import type { Message, Revision } from "../message.ts";
import { parseMessage } from "./parse.ts";
import type { WireError } from "../wire-error.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function parsed(text: string): Message {
  const frame = parseMessage(bytesOf(text), defaultWireLimits);
  if (!frame.ok) throw new Error(frame.error.kind);
  if (frame.value.kind !== "single") throw new Error("batch");
  return frame.value.message;
}

function refused(text: string | Uint8Array, revision?: Revision): WireError {
  const bytes = typeof text === "string" ? bytesOf(text) : text;
  const frame = parseMessage(bytes, { ...defaultWireLimits, messageBytesMax: 4096, idLengthMax: 20 }, revision);
  if (frame.ok) throw new Error(`accepted ${JSON.stringify(frame.value)}`);
  return frame.error;
}

const withoutRaw = (message: Message): Message => {
  if (message.kind === "request" || message.kind === "notification") {
    const { raw: _raw, ...rest } = message;
    return rest;
  }
  const { raw: _raw, rawId: _rawId, ...rest } = message;
  return rest;
};

describe("messages that are accepted", () => {
  test("each kind", () => {
    expect(withoutRaw(parsed('{"jsonrpc":"2.0","id":1,"method":"ping"}'))).toEqual({
      kind: "request",
      id: 1,
      method: "ping",
      params: undefined,
    });
    expect(parsed('{"jsonrpc":"2.0","method":"a","params":{"x":1}}').kind).toBe("notification");
    expect(parsed('{"result":{},"jsonrpc":"2.0","id":"s"}')).toMatchObject({ kind: "response", id: "s", result: {} });
    expect(parsed('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}')).toMatchObject({ id: null });
    expect(parsed('{"jsonrpc":"2.0","error":{"code":1,"message":"m","data":[1]}}')).toMatchObject({
      kind: "error",
      id: null,
      error: { code: 1, message: "m", data: [1] },
    });
  });

  test("`__proto__` stays an own property, with and without source access", () => {
    for (const number of ["1", "1.0"]) {
      const message = parsed(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"a":${number}},"b":1}}`);
      if (message.kind !== "request") throw new Error("kind");
      expect(Object.keys(message.params ?? {})).toEqual(["__proto__", "b"]);
      expect(Object.getPrototypeOf(message.params)).toBe(Object.prototype);
      expect(serialise(message)).toContain(`"__proto__":{"a":${number}}`);
    }
  });

  test("numbers keep their lexeme", () => {
    const lexemes = [
      "9007199254740993",
      "1e400",
      "-0",
      "1.0",
      "0.1",
      "1E5",
      "12345678901234567890",
      "1e-7",
      "0.0000001",
    ];
    const message = parsed(`{"jsonrpc":"2.0","id":1,"result":{"v":[${lexemes.join(",")}]}}`);
    if (message.kind !== "response") throw new Error("kind");
    expect(JSON.stringify(message.result)).toBe(`{"v":[${lexemes.join(",")}]}`);
    const values = member(message.result, "v");
    expect(Array.isArray(values) && values.map((value) => isRawNumber(value))).toEqual(
      lexemes.map((lexeme) => lexeme !== "0.1" && lexeme !== "1e-7"),
    );
  });

  test("raw bytes are kept, unless a line break inside would break the framing", () => {
    const text = '{ "jsonrpc" : "2.0", "id" : 1, "result" : {} }';
    const response = parsed(text);
    expect(response.raw).toEqual(bytesOf(text));
    expect(encodeMessage(response)).toEqual(bytesOf(text));
    for (const spaced of [text.replace(" ", "\n"), text.replace(" ", "\r")]) {
      expect(parsed(spaced).raw).toBeUndefined();
      expect(encodeMessage(parsed(spaced))).toEqual(bytesOf('{"jsonrpc":"2.0","id":1,"result":{}}'));
    }
  });

  test("an answer goes out under another id with its body untouched", () => {
    const spellings = [
      ['{"jsonrpc":"2.0","id":ID,"result":{"id":5,"v":1.50}}', "7"],
      ['{"result":{"v":[{"id":"7"}]},"jsonrpc":"2.0", "id" : ID }', '"7"'],
      ['{"error":{"code":1,"message":"id"},"id":ID,"jsonrpc":"2.0"}', String.raw`"a\"\u0041}"`],
      ['{"error":{"code":1,"message":"m"},"id":ID,"jsonrpc":"2.0"}', "null"],
    ] as const;
    for (const [template, old] of spellings) {
      const answer = parsed(template.replace("ID", old));
      if (answer.kind !== "response" && answer.kind !== "error") throw new Error("kind");
      for (const id of [7, -123456, "7", "a\n", 'quote " é']) {
        const sent = new TextDecoder().decode(encodeMessage(withId(answer, id)));
        expect(sent).toBe(template.replace("ID", () => JSON.stringify(id)));
        expect(parsed(sent)).toMatchObject({ id });
      }
    }
  });

  test("an escaped name or a missing id is written anew", () => {
    const escaped = parsed(String.raw`{"jsonrpc":"2.0","\u0069d":1,"result":{ "a" : 1 }}`);
    expect(escaped).toMatchObject({ kind: "response", id: 1 });
    expect(new TextDecoder().decode(encodeMessage(escaped))).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":1}}');
    const missing = parsed('{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}');
    expect(new TextDecoder().decode(encodeMessage(missing))).toContain('"id":null');
  });

  test("the bytes of a notification are kept as those of a request", () => {
    for (const text of ['{"jsonrpc":"2.0","method":"m"}', '{"jsonrpc":"2.0","id":1,"method":"m"}']) {
      expect(parsed(text).raw).toEqual(bytesOf(text));
    }
  });

  test("requests are never sent as the bytes they came in", () => {
    const text = '{ "id":1,"params":{"b":1,"a":1.0},"method":"m","jsonrpc":"2.0"}';
    const out = new TextDecoder().decode(encodeMessage(parsed(text)));
    expect(out).toBe('{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":1,"a":1.0}}');
  });
});

describe("messages that are refused", () => {
  const cases: readonly (readonly [string, WireError["kind"], string])[] = [
    ["not JSON", "invalid-json", '{"jsonrpc":"2.0",'],
    ["byte order mark", "invalid-json", '\uFEFF{"jsonrpc":"2.0","id":1,"method":"m"}'],
    ["not an object", "invalid-envelope", "3"],
    ["no version", "invalid-envelope", '{"id":1,"method":"m"}'],
    ["array params", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"method":"m","params":[]}'],
    ["request and result", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"method":"m","result":{}}'],
    ["result with params", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"params":{},"result":{}}'],
    ["text as result", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"result":"x"}'],
    ["error with extra member", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","x":1}}'],
    ["error with bad code", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}'],
    ["error that is no object", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"error":"x"}'],
    ["null as error", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"error":null}'],
    ["error with a number as message", "invalid-envelope", '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":5}}'],
    ["unknown envelope name", "unknown-envelope-name", '{"jsonrpc":"2.0","id":1,"method":"m","extra":1}'],
    ["`__proto__` in the envelope", "unknown-envelope-name", '{"jsonrpc":"2.0","id":1,"method":"m","__proto__":{}}'],
    ["fractional id", "invalid-id", '{"jsonrpc":"2.0","id":1.5,"method":"m"}'],
    ["id with a trailing zero", "invalid-id", '{"jsonrpc":"2.0","id":1.0,"method":"m"}'],
    ["id beyond 2^53", "invalid-id", '{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}'],
    ["id 2^53 in a result", "invalid-id", '{"jsonrpc":"2.0","id":9007199254740992,"result":{}}'],
    ["null id of a request", "invalid-id", '{"jsonrpc":"2.0","id":null,"method":"m"}'],
    ["null id of a result", "invalid-id", '{"jsonrpc":"2.0","id":null,"result":{}}'],
    ["object as error id", "invalid-id", '{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":""}}'],
    ["long id", "invalid-id", `{"jsonrpc":"2.0","id":"${"x".repeat(21)}","method":"m"}`],
    ["empty method", "invalid-method", '{"jsonrpc":"2.0","id":1,"method":""}'],
    ["number as method", "invalid-method", '{"jsonrpc":"2.0","id":1,"method":1}'],
    ["long method", "invalid-method", `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(257)}"}`],
    ["too large", "too-large", `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(5000)}"}`],
    ["batch", "batch-not-allowed", '[{"jsonrpc":"2.0","id":1,"method":"m"}]'],
  ];
  test.each(cases)("%s: %s", (_name, kind, text) => {
    expect(refused(text).kind).toBe(kind);
  });

  test("invalid UTF-8, with the id found all the same", () => {
    const bytes = bytesOf('{"jsonrpc":"2.0","id":5,"method":"mX"}');
    bytes[bytes.indexOf(88)] = 0xff;
    expect(refused(bytes)).toMatchObject({ kind: "invalid-utf8", code: -32700, id: 5, about: "request" });
  });

  test("the refusal knows what it answers", () => {
    expect(refused('{"jsonrpc":"2.0","id":7,"method":"m","x":1}')).toMatchObject({ about: "request", id: 7 });
    expect(refused('{"jsonrpc":"2.0","id":7,"result":{},"x":1}')).toMatchObject({ about: "response", id: 7 });
    expect(refused('{"jsonrpc":"2.0","method":"m","x":1}')).toMatchObject({ about: "notification", id: undefined });
    expect(refused('{"jsonrpc":"2.0","id":7,"method":"m","result":{}}')).toMatchObject({ about: "unknown", id: 7 });
  });
});

test("what the guard refuses keeps its reason, place and id", () => {
  expect(refused('{"jsonrpc":"2.0","id":8,"method":"m","params":{"a":1,"a":2}}')).toMatchObject({
    kind: "duplicate-name",
    code: -32600,
    about: "request",
    id: 8,
    position: 53,
  });
  expect(refused('{"result":{"content":[],"Content":[]},"jsonrpc":"2.0","id":8}')).toMatchObject({
    kind: "case-variant-name",
    about: "response",
    id: 8,
  });
});

test("what is as large as a limit passes, and one more does not", () => {
  const limits = { ...defaultWireLimits, methodLengthMax: 3, idLengthMax: 2, batchLengthMax: 2 };
  const one = (id: string, method: string): string => `{"jsonrpc":"2.0","id":"${id}","method":"${method}"}`;
  const verdict = (text: string, messageBytesMax = 1_000): string => {
    const frame = parseMessage(bytesOf(text), { ...limits, messageBytesMax }, "2025-03-26");
    return frame.ok ? frame.value.kind : frame.error.kind;
  };
  const message = one("ab", "abc");
  expect([verdict(message, message.length), verdict(message, message.length - 1)]).toEqual(["single", "too-large"]);
  expect([verdict(one("ab", "abc")), verdict(one("abc", "abc"))]).toEqual(["single", "invalid-id"]);
  expect(verdict(one("ab", "abcd"))).toBe("invalid-method");
  expect([verdict(`[${message},${message}]`), verdict(`[${message},${message},${message}]`)]).toEqual([
    "batch",
    "batch-length",
  ]);
});

test("a message over the limit is named by its ends", () => {
  const body = "x".repeat(5000);
  expect(refused(`{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":"${body}"}}`)).toMatchObject({
    kind: "too-large",
    about: "request",
    id: 3,
  });
  expect(refused(`{"result":{"a":"${body}"},"jsonrpc":"2.0","id":4}`)).toMatchObject({ about: "response", id: 4 });
});

describe("batches", () => {
  test("a refused batch says which requests its answers are for", () => {
    const error = '{"jsonrpc":"2.0","id":"b","error":{"code":1,"message":"m"}}';
    const rest = '"text",{"id":3,"method":"m"},{"id":4},{"id":null,"result":{}},{"id":1.5,"result":{}}';
    const batch = `[{"jsonrpc":"2.0","id":1,"result":{}},${error},${rest}]`;
    expect(refused(batch)).toMatchObject({ kind: "batch-not-allowed", about: "unknown", among: [1, "b"] });
    const long = `[${Array.from({ length: 101 }, () => '{"id":"b","result":{}}').join(",")}]`;
    expect(refused(long, "2025-03-26")).toMatchObject({ kind: "batch-length" });
  });

  const one = '{"jsonrpc":"2.0","id":1,"method":"m"}';

  test("exist in 2025-03-26, in order, with bad entries refused alone", () => {
    const frame = parseMessage(bytesOf(`[${one},{"x":1},[${one}]]`), defaultWireLimits, "2025-03-26");
    if (!frame.ok || frame.value.kind !== "batch") throw new Error("no batch");
    expect(frame.value.entries.map((entry) => (entry.ok ? entry.value.kind : entry.error.kind))).toEqual([
      "request",
      "unknown-envelope-name",
      "invalid-envelope",
    ]);
  });

  test("are bounded and never empty", () => {
    expect(refused("[]", "2025-03-26").kind).toBe("batch-length");
    const many = `[${Array.from({ length: 101 }, () => "1").join(",")}]`;
    expect(refused(many, "2025-03-26").kind).toBe("batch-length");
  });

  test("are refused in every other revision", () => {
    for (const revision of ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] as const) {
      expect(refused(`[${one}]`, revision).kind).toBe("batch-not-allowed");
    }
  });

  test("are written in the order given", () => {
    const message = parsed(one);
    expect(new TextDecoder().decode(encodeBatch([message, message]))).toBe(`[${one},${one}]`);
  });
});

describe("parse after encode", () => {
  const lexeme = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt().map(String),
    fc.constantFrom("1.0", "-0", "1e400", "1E+2", "0.10", "9007199254740993"),
  );
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.string({ unit: "binary" }),
      fc.boolean(),
      fc.constant(null),
      lexeme.map((text) => JSON.rawJSON(text)),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(
        fc.string({ unit: "grapheme" }).filter((name) => !name.includes("\0")),
        tie("value"),
        {
          maxKeys: 5,
          noNullPrototype: true,
        },
      ),
    ),
  })).value;

  test("gives the same message, number lexemes included", () => {
    fc.assert(
      fc.property(json, fc.oneof(fc.string({ maxLength: 20 }), fc.maxSafeInteger()), (value, id) => {
        const text = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { arguments: { value } } });
        // `String(id)` of minus zero is "0"; fast-check gives plain integers otherwise.
        const first = parsed(text);
        expect(serialise(first)).toBe(text);
        const second = parsed(new TextDecoder().decode(encodeMessage(first)));
        expect(withoutRaw(second)).toEqual(withoutRaw(first));
      }),
      { numRuns: runs },
    );
  });

  test("every kind of message survives", () => {
    const messages: readonly Message[] = [
      { kind: "request", id: "a", method: "m", params: { x: 1 } },
      { kind: "notification", method: "m", params: undefined },
      { kind: "response", id: 1, result: { a: [null] } },
      { kind: "error", id: null, error: { code: -32000, message: "no" } },
    ];
    for (const message of messages) expect(withoutRaw(parsed(serialise(message)))).toEqual(message);
  });
});
