import { describe, expect, test } from "vitest";
import { recover, recoverSample } from "./recover.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const recovered = (text: string) => recover(bytesOf(text));

describe("what can be told of a refused message", () => {
  test.each([
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":1,"a":2}}', { about: "request", id: 5 }],
    ['{"result":{"id":9},"jsonrpc":"2.0","id":"x\\n"}', { about: "response", id: "x\n" }],
    ['{"error":{},"id":7,', { about: "response", id: 7 }],
    ['{"error":{},"id":7', { about: "response", id: undefined }],
    ['{"method":"m","params":{"id":3}}', { about: "notification", id: undefined }],
    ['{"id":1,"id":2,"method":"m"}', { about: "request", id: undefined }],
    ['{"id":1,"ID":2,"method":"m"}', { about: "request", id: undefined }],
    ['{"id":1,"result":{},"id":"a"}', { about: "response", id: undefined, among: [1, "a"] }],
    ['{"id":1,"ID":1.5,"result":{}}', { about: "response", id: undefined, among: [1] }],
    ['{"id":1.5,"method":"m"}', { about: "request", id: undefined }],
    ['{"id":-0,"method":"m"}', { about: "request", id: undefined }],
    ['{"id":9007199254740993,"method":"m"}', { about: "request", id: undefined }],
    ['{"id":"","method":"m"}', { about: "request", id: undefined }],
    ['{"id":"\\x","method":"m"}', { about: "request", id: undefined }],
    [`{"id":"${"x".repeat(2000)}","method":"m"}`, { about: "request", id: undefined }],
    ['{"id" : \n 3 , "method":"m"}', { about: "request", id: 3 }],
    ['{"\\u0069d":3,"method":"m"}', { about: "request", id: 3 }],
    ['{"id":3,"method":"m","result":{}}', { about: "unknown", id: 3 }],
    [String.raw`{"method":"\",\"id\":5,","id":3}`, { about: "request", id: 3 }],
    ['{"method":"id","id":4}', { about: "request", id: 4 }],
    ['[{"id":3,"method":"m"}]', { about: "unknown", id: undefined }],
    ['["id",3]', { about: "unknown", id: undefined }],
    ['{"id', { about: "unknown", id: undefined }],
    ["", { about: "unknown", id: undefined }],
  ])("%s", (text, expected) => {
    expect(recovered(text)).toEqual(expected);
  });

  test("a dropped line is known by its ends", () => {
    const sample = (head: string, tail: string) => recoverSample(bytesOf(head), bytesOf(tail));
    expect(sample('{"jsonrpc":"2.0","id":4,"result":{"x":"aaa', 'aaa"}}')).toEqual({ about: "response", id: 4 });
    expect(sample('{"result":{},"id":12', 'aaa"}')).toEqual({ about: "response", id: undefined });
    expect(sample('{"result":{"x":"aaa', 'aaa"},"jsonrpc":"2.0","id":"q"}')).toEqual({ about: "response", id: "q" });
    expect(sample('{"result":{"x":"aaa', 'aaa"},"id":12,"jsonrpc":"2.0"}')).toEqual({ about: "response", id: 12 });
    expect(sample('{"result":{"x":"aaa', 'aaa","id":12},"n":1}')).toEqual({ about: "response", id: undefined });
    expect(recoverSample(bytesOf('{"id":4,"method":"é').subarray(0, -1), bytesOf("é").subarray(1)).id).toBe(4);
    expect(sample('{"method":"m","params":{"x":"aaa', 'aaa"},"id":12}')).toEqual({ about: "request", id: 12 });
    expect(sample('{"method":"m","params":{"x":"aaa', 'aaa"}}')).toEqual({ about: "notification", id: undefined });
  });
});
