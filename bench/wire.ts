/**
 * The cost of strict parsing beside plain `JSON.parse`: `node bench/wire.ts`. Best of several rounds, in microseconds a
 * message; `ratio` is the whole of `parseMessage` (decode, guard, parse, envelope) over decode and `JSON.parse`.
 */
import { encodeMessage } from "../src/wire/encode.ts";
import { guard } from "../src/wire/parse/guard.ts";
import { defaultWireLimits } from "../src/wire/limits.ts";
import { parseMessage } from "../src/wire/parse/parse.ts";
import { LineSplitter } from "../src/wire/parse/splitter.ts";

const rounds = 9;

function bestMicroseconds(work: () => void, times: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    for (let time = 0; time < times; time += 1) work();
    best = Math.min(best, ((performance.now() - started) * 1000) / times);
  }
  return best;
}

const prose = (characters: number): string => {
  const line = 'A line of a "report" with \\ in it and text that goes on.\n';
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters);
};

const rows = (count: number, score: string): string =>
  `[${Array.from({ length: count }, (_, id) => `{"id":${id},"name":"user ${id}","email":"u@example.com","score":${score},"tags":["a","b"],"active":true}`).join(",")}]`;

const call = (characters: number): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: {
      name: "send_mail",
      arguments: { to: "a@b.c", subject: "hi", body: prose(characters), cc: ["x@y.z"], flags: { urgent: true, n: 3 } },
      _meta: { progressToken: 1 },
    },
  });

const textResult = (text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text }] } });

const rowResult = (count: number, score: string): string =>
  `{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"rows":${rows(count, score)}}}}`;

const floats = JSON.stringify({
  jsonrpc: "2.0",
  id: 7,
  result: { content: [], structuredContent: { v: Array.from({ length: 250_000 }, (_, at) => Math.sin(at)) } },
});

const cases: readonly (readonly [string, string, number])[] = [
  ["call, 1 KB", call(760), 2000],
  ["result, 100 KB of text", textResult(prose(100_000)), 50],
  ["result, 5 MB of text", textResult(prose(4_700_000)), 3],
  ["result, 5 MB of text beyond ASCII", textResult(prose(3_000_000).replaceAll("report", "отчёт")), 3],
  ["result, 5 MB of JSON in a string", textResult(rows(42_000, "12.5")), 3],
  ["result, 5 MB of rows", rowResult(52_000, "12.5"), 2],
  ["result, 5 MB of rows with 1.0", rowResult(52_000, "1.0"), 1],
  ["result, 5 MB of 17-digit fractions", floats, 1],
];

for (const [name, text, times] of cases) {
  const bytes = new TextEncoder().encode(text);
  const plain = bestMicroseconds(() => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), times);
  const guarded = bestMicroseconds(() => guard(bytes, defaultWireLimits, text), times);
  const whole = bestMicroseconds(() => {
    if (!parseMessage(bytes, defaultWireLimits).ok) throw new Error(`refused: ${name}`);
  }, times);
  const figures = { bytes: bytes.length, plain: plain.toFixed(1), guard: guarded.toFixed(1), whole: whole.toFixed(1) };
  console.log(JSON.stringify({ name, ...figures, ratio: (whole / plain).toFixed(2) }));
}

const large = new TextEncoder().encode(`${textResult(prose(4_700_000))}\n`);
const splitting = bestMicroseconds(() => {
  const splitter = new LineSplitter(defaultWireLimits.messageBytesMax);
  for (let at = 0; at < large.length; at += 65_536) splitter.push(large.subarray(at, at + 65_536));
}, 3);
console.log(JSON.stringify({ name: "splitter, 5 MB in 64 KB chunks", whole: splitting.toFixed(1) }));

const frame = parseMessage(large.subarray(0, -1), defaultWireLimits);
if (frame.ok && frame.value.kind === "single") {
  const { message } = frame.value;
  const sameId = bestMicroseconds(() => encodeMessage(message), 3);
  const otherId = bestMicroseconds(() => encodeMessage({ ...message, id: 8 } as typeof message), 3);
  console.log(
    JSON.stringify({
      name: "encode, 5 MB, same id and other id",
      whole: `${sameId.toFixed(1)}, ${otherId.toFixed(1)}`,
    }),
  );
}
