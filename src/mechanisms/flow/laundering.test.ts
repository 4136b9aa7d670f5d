/** Ways to carry a released secret past the labels, each a regression. */
import { expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { exactly, isUntrusted } from "../../core/label.ts";
import { argument, contract, lattice, makeSession, open, secret } from "../../../test/kit/policy/flow-session.ts";

const send = contract("send", exactly(open));
const vault = contract("vault", exactly(secret));
const words = "zebra 77-1234-99 orchid";

function leaks(result: Json, sent: { readonly [name: string]: Json } = { body: words }, tool = send): boolean {
  const session = makeSession("provenance");
  session.exchange(vault, {}, result);
  const labels = [...session.labels(tool, sent).values()];
  return labels.every(({ range }) => range.hi === open || !((range.hi & secret) === secret));
}

it.each<[string, Json]>([
  ["the text", { content: [{ type: "text", text: words }] }],
  ["`_meta` beside repeated content", repeated({ _meta: { note: words } })],
  ["an unknown member beside repeated content", repeated({ note: words })],
  ["annotations of the text that is JSON", { content: [{ type: "text", text: "[1]", annotations: { a: words } }] }],
  ["`_meta` of the block that repeats", repeated({}, { _meta: { note: words } })],
  ["a media type", { content: [{ type: "text", text: "hi", mimeType: words }] }],
  ["a type of block", { content: [{ type: words }] }],
  ["a role", { messages: [{ role: words, content: { type: "text", text: "x" } }] }],
  ["a name of a member", { content: [], structuredContent: { [words]: 1 } }],
  ["a member whose name comes twice", { content: [{ type: "text", text: `{"a":"${words}","a":"x:y"}` }] }],
  [
    "a member whose name comes twice, beside what it seems to repeat",
    { structuredContent: { a: "x" }, content: [{ type: "text", text: `{"a":"${words}","a":"x"}` }] },
  ],
  ["an error", { isError: true, content: [{ type: "text", text: words }] }],
  ["a link", { content: [{ type: "resource_link", uri: "x://y", name: words }] }],
])("a secret is recognised although it came in %s", (_where, result) => {
  expect(leaks(result)).toBe(false);
});

function repeated(beside: { readonly [name: string]: Json }, ofBlock: { readonly [name: string]: Json } = {}): Json {
  return { structuredContent: { ok: 1 }, content: [{ type: "text", text: '{"ok":1}', ...ofBlock }], ...beside };
}

it.each<[string, { readonly [name: string]: Json }]>([
  ["the name of an argument", { [words]: 1 }],
  ["a nested name", { body: { a: { [words]: 1 } } }],
  ["a number in a name", { a77123499: 1 }],
])("a secret is recognised although it goes out as %s", (_where, sent) => {
  expect(leaks({ content: [{ type: "text", text: `${words} a77123499` }] }, sent)).toBe(false);
});

it("an argument that is named like the links of another keeps its own label", () => {
  const tool = contract("send", exactly(open), [], {
    arguments: new Map([
      ["body", argument("content")],
      ["body#links", argument("destination")],
    ]),
  });
  const sent = { body: "see https://fine.example/x", "body#links": words };
  expect(leaks({ content: [{ type: "text", text: words }] }, sent, tool)).toBe(false);
  const untrusted = makeSession("provenance");
  expect(isUntrusted(lattice, untrusted.labels(tool, sent).get("body#links")?.range.hi ?? lattice.top)).toBe(false);
});
