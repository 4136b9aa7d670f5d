import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guard } from "./guard.ts";
import { defaultWireLimits } from "../limits.ts";
import { foldCase, hashFolded, knownNames } from "../vocabulary.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const limits = { ...defaultWireLimits, depthMax: 10, listLengthMax: 100 };

function verdict(text: string): string {
  const found = guard(bytesOf(text), limits);
  // The decoded text is a help for speed and must never change the verdict.
  expect(guard(bytesOf(text), limits, text)).toEqual(found);
  return found.kind === "refused" ? found.reason : found.inexactNumbers.length > 0 ? "inexact" : "pass";
}

const call = (args: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${args}}}`;
const params = (text: string): string => `{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}`;
const result = (text: string): string => `{"jsonrpc":"2.0","id":1,"result":${text}}`;
const manyNames = (count: number, extra: string): string =>
  `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(",")},${extra}}`;

describe("names twice", () => {
  test.each([
    ["envelope", '{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}'],
    ["escaped spelling", String.raw`{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"m"}`],
    ["params", params('{"name":"a","name":"b"}')],
    ["arguments", call('{"to":"a","to":"b"}')],
    ["deep in arguments", call('{"x":[{"a":[{"to":"a","to":"b"}]}]}')],
    ["empty name", call('{"":1,"":2}')],
    ["`__proto__`", call('{"__proto__":1,"__proto__":2}')],
    ["beyond the linear part", call(manyNames(40, '"n3":2'))],
    ["non-ASCII, one escaped", call(String.raw`{"é":1,"\u00e9":2}`)],
    ["long names", call(`{"${"x".repeat(50)}":1,"${"x".repeat(50)}":2}`)],
  ])("%s", (_name, text) => {
    expect(verdict(text)).toBe("duplicate-name");
  });

  test("the same name in different objects is fine", () => {
    expect(verdict(call('[{"a":1},{"a":1},{"b":{"a":1},"a":2}]'))).toBe("pass");
  });

  test("names of equal hash are told apart", () => {
    // 31 * "a" + "Z" folded and 31 * "b" + "[" give one hash without being one name.
    const [first, second] = ["a\u007a", "b["];
    expect(hashFolded(second)).toBe(hashFolded(first));
    expect(verdict(call(`{"${first}":1,"${second}":2}`))).toBe("pass");
    expect(verdict(params(`{"${first}":1,"${second}":2}`))).toBe("pass");
    // As far apart is this from `size`, a name of the protocol.
    expect(hashFolded("sj[e")).toBe(hashFolded("size"));
    expect(verdict(params('{"sj[e":1}'))).toBe("pass");
  });
});

describe("however a name is written", () => {
  const letter = fc.oneof(
    fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("é", "ß", "\u{1F600}"),
  );
  const name = fc.array(letter, { minLength: 1, maxLength: 40 }).map((letters) => letters.join(""));
  const escapes = fc.array(fc.boolean(), { minLength: 80, maxLength: 80 });
  const others = fc
    .integer({ min: 1, max: 30 })
    .map((count) => manyNames(count, "").replaceAll('"n', `"${"-".repeat(80)}`));
  const written = (text: string, escaped: readonly boolean[]): string => {
    const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, "0");
    const units = text
      .split("")
      .map((unit, at) => (escaped[at] === true ? `\\u${hex(unit)}` : JSON.stringify(unit).slice(1, -1)));
    return units.join("");
  };

  test("it is the same name", () => {
    fc.assert(
      fc.property(name, escapes, others, (text, escaped, rest) => {
        const names = `{${JSON.stringify(text)}:1,${rest.slice(1, -1)}"${written(text, escaped)}":2}`;
        expect(verdict(call(names))).toBe("duplicate-name");
        expect(verdict(params(names))).toMatch(/^(?:duplicate|case-variant)-name$/);
      }),
      { numRuns: runs },
    );
  });

  test("it differs in case alone from its capitals", () => {
    fc.assert(
      fc.property(name, escapes, others, (text, escaped, rest) => {
        const capitals = text.toUpperCase();
        fc.pre(capitals !== text);
        const names = `{${JSON.stringify(text)}:1,${rest.slice(1, -1)}"${written(capitals, escaped)}":2}`;
        expect(verdict(call(names))).toBe("pass");
        expect(verdict(params(names))).toBe("case-variant-name");
      }),
      { numRuns: runs },
    );
  });
});

describe("names that differ in case", () => {
  test.each([
    ["envelope", '{"jsonrpc":"2.0","id":1,"method":"m","Method":"x"}'],
    ["alone in the envelope", '{"jsonrpc":"2.0","ID":1,"method":"m"}'],
    ["alone in params", params('{"name":"a","Arguments":{"to":"evil"}}')],
    ["two unknown names", params('{"vendor":1,"Vendor":2}')],
    ["two unknown names of many", params(manyNames(40, '"N3":2'))],
    ["long s", params('{"vendors":1,"vendor\u017f":2}')],
    ["long s for a protocol name", params('{"param\u017f":1}')],
    ["Kelvin sign for a protocol name", params('{"tas\u212A":1}')],
    ["dotted capital I for a protocol name", '{"jsonrpc":"2.0","\u0130d":1,"method":"m"}'],
    ["dotless i beside the other", params('{"vid":1,"v\u0131d":2}')],
    ["escaped", params(String.raw`{"\u004eame":1}`)],
    ["content block", result('{"content":[{"type":"text","Text":"x"}]}')],
    ["meta", params('{"_meta":{"ProgressToken":1}}')],
    [
      "an object of the protocol inside meta",
      params('{"_meta":{"io.modelcontextprotocol/related-task":{"TaskId":1}}}'),
    ],
    ["inside an unknown member", params('{"vendor":{"Name":1}}')],
    ["the content of a message", params('{"messages":[{"content":{"type":"text","Text":"x"}}]}')],
    ["two unknown names after many", params(manyNames(40, '"vendor":1,"Vendor":2'))],
    ["inside a server request", result('{"inputRequests":{"Name":{"Method":"x"}}}')],
    ["inside a client answer", params('{"inputResponses":{"Name":{"Action":"accept"}}}')],
    ["batch", '[{"jsonrpc":"2.0","Id":1,"method":"m"}]'],
    ["error", '{"jsonrpc":"2.0","id":1,"error":{"Code":1,"message":""}}'],
  ])("%s", (_name, text) => {
    expect(verdict(text)).toBe("case-variant-name");
  });

  test.each([
    ["tool arguments", call('{"a":1,"A":2,"Name":"x","Method":"y"}')],
    ["params, many names", params(manyNames(40, '"m3":2'))],
    ["tool arguments, many", call(manyNames(40, '"N3":2'))],
    ["structured content", result('{"structuredContent":{"a":1,"A":2,"Id":3},"content":[]}')],
    ["schemas", result('{"tools":[{"name":"t","inputSchema":{"properties":{"Name":{},"name":{}}}}]}')],
    ["a filled form", result('{"action":"accept","content":{"Name":"x","name":"y"}}')],
    ["a filled form in a modern answer", params('{"inputResponses":{"a":{"content":{"Name":"x"}}}}')],
    ["names of request maps", result('{"inputRequests":{"Name":{"method":"x"}}}')],
    ["other names in meta", params('{"_meta":{"Name":1,"com.example/Name":{"a":1,"A":1}}}')],
    ["log data", params('{"data":{"A":1,"a":2}}')],
    ["error data", '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"A":1,"a":2}}}'],
    ["a meta name outside meta", params('{"Baggage":1}')],
  ])("is legal data in %s", (_name, text) => {
    expect(verdict(text)).toBe("pass");
  });

  test("a list under `content` or `inputRequests` is protocol again", () => {
    expect(verdict(result('{"content":[{"Name":"x"}]}'))).toBe("case-variant-name");
    expect(verdict(result('{"inputRequests":[{"Name":"x"}]}'))).toBe("case-variant-name");
  });
});

describe("what readers disagree on", () => {
  test("NUL and half surrogates in names", () => {
    expect(verdict(call(String.raw`{"a\u0000":1}`))).toBe("nul-in-name");
    expect(verdict(call(String.raw`{"\ud800":1}`))).toBe("ill-formed-name");
    expect(verdict(call(String.raw`{"a":"\u0000\ud800"}`))).toBe("pass");
  });

  test("names that cannot be read are left to the parser", () => {
    expect(verdict(call(String.raw`{"\x":1,"\x":2}`))).toBe("pass");
    expect(verdict('{"a":1,"\\u00":2,"\\')).toBe("pass");
    const broken = bytesOf(call('{"aX":1,"aX":2}'));
    for (let at = broken.indexOf(88); at >= 0; at = broken.indexOf(88)) broken[at] = 0xff;
    expect(guard(broken, limits).kind).toBe("pass");
  });

  test("depth and length", () => {
    expect(verdict(`${"[".repeat(10)}${"]".repeat(10)}`)).toBe("pass");
    expect(verdict("[".repeat(11))).toBe("too-deep");
    expect(verdict(`[${Array.from({ length: 100 }, () => "0").join(",")}]`)).toBe("pass");
    expect(verdict(`[${Array.from({ length: 101 }, () => "0").join(",")}]`)).toBe("list-too-long");
  });

  test("brackets and quotes inside strings mean nothing", () => {
    expect(verdict(call(String.raw`{"a":"[[[[[[[[[[[[[{\"id\":1,\"id\":2}\\"}`))).toBe("pass");
    for (let length = 0; length < 200; length += 1) {
      const text = `${"x".repeat(length)}\\\\\\"${"y".repeat(length)}\\"\\"`;
      expect(verdict(call(`{"a":"${text}","a2":1,"a":2}`))).toBe("duplicate-name");
      expect(verdict(call(`{"a":"${text}","a2":"${text}"}`))).toBe("pass");
    }
    expect(verdict(`{"a":"${"x".repeat(100)}`)).toBe("pass");
  });

  test("a string ends at the same quote, however long it is and whatever it escapes", () => {
    const piece = fc.constantFrom("x", String.raw`\\`, String.raw`\"`, "x".repeat(25));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 80 }), fc.boolean(), (pieces, plant) => {
        const text = `{"a":"${pieces.join("")}","${plant ? "a" : "b"}":1}`;
        expect(verdict(call(text))).toBe(plant ? "duplicate-name" : "pass");
      }),
      { numRuns: runs * 2 },
    );
  });

  test("the region ends with its object", () => {
    expect(verdict(params('{"arguments":{"A":{"a":1}},"Name":1}'))).toBe("case-variant-name");
    expect(verdict(params('{"arguments":[{"Name":1}],"name":1}'))).toBe("pass");
  });
});

describe("the id of a single message", () => {
  const idIn = (text: string): string | undefined => {
    const bytes = bytesOf(text);
    const found = guard(bytes, limits, text);
    if (found.kind === "refused") throw new Error(found.reason);
    return found.id && new TextDecoder().decode(bytes.subarray(found.id.start, found.id.end));
  };

  test("is found where it stands, whatever is around it", () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
    const id = fc.oneof(fc.string({ unit: "grapheme" }), fc.maxSafeInteger(), fc.constant(null));
    const others = ['"jsonrpc":"2.0"', '"result":{"id":5,"a":[{"id":6}],"b":"id"}', '"di":7', '"ix":8', '"xd":9'];
    fc.assert(
      fc.property(id, space, fc.shuffledSubarray([undefined, ...others], { minLength: 6 }), (value, gap, members) => {
        const own = `${gap}"id"${gap}:${gap}${JSON.stringify(value)}${gap}`;
        expect(idIn(`${gap}{${members.map((text) => text ?? own).join(",")}}`)).toBe(JSON.stringify(value));
      }),
      { numRuns: runs },
    );
  });

  test.each(["{}", '{"a":{"id":1}}', '[{"id":1}]', '["id",1]', String.raw`{"\u0069d":1}`, '{"ab":1}'])(
    "is not in %s",
    (text) => {
      expect(idIn(text)).toBeUndefined();
    },
  );
});

describe("the result of a single message", () => {
  const resultIn = (text: string): string | undefined => {
    const bytes = bytesOf(text);
    const found = guard(bytes, limits, text);
    if (found.kind === "refused") throw new Error(found.reason);
    return found.result && new TextDecoder().decode(bytes.subarray(found.result.start, found.result.end));
  };
  const others = [
    '"jsonrpc":"2.0"',
    '"id":"result"',
    '"_meta":{"result":{"a":[1]}}',
    '"value":[{"result":{}}]',
    '"xesult":{"b":1}',
    '"resulx":{"c":2}',
    '"res":{"d":3}',
  ];

  test("is found where it stands, whatever is around and in it", () => {
    const inside = fc.constantFrom(
      "{}",
      '{"a":{"b":[{"result":1}]}}',
      '{"structuredContent":{"a":"}, ]"},"isError":false}',
    );
    fc.assert(
      fc.property(inside, fc.shuffledSubarray([undefined, ...others], { minLength: 8 }), (value, members) => {
        const text = `{${members.map((member) => member ?? `"result":${value}`).join(",")}}`;
        expect(resultIn(text)).toBe(value);
        // Anywhere between two tokens white space is enough for the text to be written anew.
        for (const space of [" ", "\t", "\n", "\r"]) {
          expect(resultIn(text.replace(":", `:${space}`))).toBeUndefined();
          expect(resultIn(`${text}${space}`)).toBeUndefined();
        }
      }),
      { numRuns: runs },
    );
  });

  test.each([
    "{}",
    '{"a":{"result":{"b":1}}}',
    '[{"result":{"a":1}}]',
    '{"xesult":{"a":1},"resulx":{"b":2}}',
    String.raw`{"resul\u0074":{"a":1}}`,
    '{"error":{"code":1},"a":"result"}',
  ])("is not in %s", (text) => {
    expect(resultIn(text)).toBeUndefined();
  });
});

describe("numbers", () => {
  test("are flagged exactly when writing them again changes them", () => {
    const lexeme = fc
      .tuple(
        fc.constantFrom("", "-"),
        fc.oneof(fc.nat().map(String), fc.bigInt({ min: 0n, max: 10n ** 25n }).map(String)),
        fc.oneof(
          fc.constant(""),
          fc.stringMatching(/^\.[0-9]{1,20}$/),
          fc.constantFrom(".0", ".0000001", ".000001", ".5"),
        ),
        fc.oneof(
          { weight: 4, arbitrary: fc.constant("") },
          { weight: 1, arbitrary: fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/) },
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(lexeme, (text) => {
        const survives = JSON.stringify(JSON.parse(text)) === text;
        expect(verdict(`[${text}]`)).toBe(survives ? "pass" : "inexact");
      }),
      { numRuns: runs * 5 },
    );
  });
});

describe("any input", () => {
  test("never throws, valid or not", () => {
    const piece = fc.constantFrom(
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "id",
      "Id",
      "1",
      "-",
      ".",
      "e",
      "\\u00",
      "é",
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(["pass", "refused"]).toContain(guard(bytesOf(pieces.join("")), limits).kind);
      }),
      { numRuns: runs * 5 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(["pass", "refused"]).toContain(guard(bytes, limits).kind);
      }),
      { numRuns: runs },
    );
  });

  test("finds a planted second spelling anywhere in free data, and nothing else", () => {
    const name = fc.string({ unit: "grapheme", maxLength: 5 }).filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 40 }), fc.boolean(), (names, plant) => {
        const members = names.map((text) => `${JSON.stringify(text)}:0`);
        if (plant) members.push(members[0] ?? "");
        expect(verdict(call(`{${members.join(",")}}`))).toBe(plant ? "duplicate-name" : "pass");
      }),
      { numRuns: runs },
    );
  });
});

test("the vocabulary is unambiguous and folded", () => {
  expect(new Set(knownNames.map((known) => known.folded)).size).toBe(knownNames.length);
  for (const known of knownNames) expect(known.folded).toBe(foldCase(known.name));
});
