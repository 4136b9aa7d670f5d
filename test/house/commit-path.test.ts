// One commit path: where a dispatch is put on record, who folds events, and the way of a call from client to server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { describe, expect, it } from "vitest";
import { files, source } from "./imports.ts";

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [member: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function textOf(file: string): string {
  return readFileSync(join(source, file), "utf8");
}

/** Every node below one, itself first. */
function* below(node: unknown): Generator<Node> {
  if (Array.isArray(node)) for (const one of node) yield* below(one);
  if (!isNode(node)) return;
  yield node;
  for (const [name, value] of Object.entries(node)) if (name !== "parent") yield* below(value);
}

function nodesOf(file: string): readonly Node[] {
  return [...below(parseSync(file, textOf(file)).program)];
}

const nameOf = (key: unknown): string =>
  isNode(key) ? `${key.type === "PrivateIdentifier" ? "#" : ""}${String(key["name"] ?? key["value"])}` : "";

/** An object with `kind: "dispatched"`, also as a constant. */
function makesDispatch(node: Node): boolean {
  if (node.type !== "Property" || nameOf(node["key"]) !== "kind") return false;
  return [...below(node["value"])].some((one) => one.type === "Literal" && one["value"] === "dispatched");
}

function calls(node: Node, text: string, callee: string): boolean {
  if (node.type !== "CallExpression" || !isNode(node["callee"])) return false;
  const { start, end } = node["callee"];
  return text.slice(start, end).replaceAll("?.", ".") === callee;
}

const gatewayFiles = files.filter((file) => file.startsWith("gateway/"));

describe("one commit path", () => {
  it("one file of the gateway makes the record of a dispatch; the log reads it back", () => {
    const writing = gatewayFiles.filter(
      (file) => !file.startsWith("gateway/log/") && textOf(file).includes("dispatched"),
    );
    const making = writing.filter((file) => nodesOf(file).some(makesDispatch));
    expect(making).toEqual(["gateway/decision/commit.ts"]);
  });

  it("events are folded by the runs of the gateway, and by what replays them offline", () => {
    const folding = files.filter((file) => {
      const text = textOf(file);
      return text.includes("evolve(") && nodesOf(file).some((node) => calls(node, text, "evolve"));
    });
    const live = folding.filter((file) => file.startsWith("gateway/runs/"));
    expect(live.length).toBeGreaterThan(0);
    expect(folding.filter((file) => !live.includes(file))).toEqual(["app/replay/driver.ts"]);
  });
});

/** Types by which handlers are given what they need. */
const givenTypes = /(?:Context|Needs|State|Shared|Scene|Host)$/;

/** Members of such types that hold a function; methods of classes and interfaces can be found by their name. */
function functionMembers(file: string): readonly string[] {
  return nodesOf(file).flatMap((node) => {
    const isType = node.type === "TSTypeAliasDeclaration" || node.type === "TSInterfaceDeclaration";
    const name = isType ? nameOf(node["id"]) : "";
    if (!givenTypes.test(name)) return [];
    return [...below(node)].flatMap((one) =>
      one.type === "TSPropertySignature" && [...below(one["typeAnnotation"])].some((of) => of.type === "TSFunctionType")
        ? [`${file} ${name}.${nameOf(one["key"])}`]
        : [],
    );
  });
}

type Step = { readonly file: string; readonly of: string; readonly method: string; readonly calls: string };

/** A request of a client on its way to its server, as the header of `commit.ts` says it; each step is one call. */
const journey: readonly Step[] = [
  { file: "session/client-session", of: "ClientSession", method: "request", calls: "router.value.request" },
  { file: "session/message-router", of: "MessageRouter", method: "request", calls: "this.#serve" },
  { file: "session/message-router", of: "MessageRouter", method: "#serve", calls: "this.#call" },
  { file: "session/message-router", of: "MessageRouter", method: "#call", calls: "this.#calls.decide" },
  { file: "calls/client-calls", of: "Calls", method: "decide", calls: "this.#pursue" },
  { file: "calls/client-calls", of: "Calls", method: "#pursue", calls: "commitCall" },
  { file: "calls/client-calls", of: "Calls", method: "#pursue", calls: "this.#send" },
  { file: "calls/client-calls", of: "Calls", method: "#send", calls: "this.#sendIn" },
  { file: "calls/client-calls", of: "Calls", method: "#sendIn", calls: "this.#needs.link.send" },
  { file: "upstream/link-seat", of: "LinkSeat", method: "send", calls: "this.#link.send" },
  { file: "upstream/upstream-link", of: "Link", method: "send", calls: "this.#connection.send" },
];

function takes({ file, of, method, calls: callee }: Step): boolean {
  const path = `gateway/${file}.ts`;
  const text = textOf(path);
  const owner = nodesOf(path).find((node) => node.type === "ClassDeclaration" && nameOf(node["id"]) === of);
  const found = [...below(owner)].find((node) => node.type === "MethodDefinition" && nameOf(node["key"]) === method);
  return [...below(found)].some((node) => calls(node, text, callee));
}

describe("the way of a call", () => {
  it("passes no member of a context that holds a function", () => {
    // A codec of the log is given the contracts that it has read so far; no call passes there.
    const handlers = gatewayFiles.filter((file) => !file.startsWith("gateway/log/"));
    expect(handlers.flatMap(functionMembers)).toEqual([]);
  });

  it("such a member would be seen", () => {
    const text = "type Needs = { readonly send: (text: string) => void; ask(text: string): void };";
    const members = [...below(parseSync("a.ts", text).program)].filter(
      (node) =>
        node.type === "TSPropertySignature" &&
        [...below(node["typeAnnotation"])].some((of) => of.type === "TSFunctionType"),
    );
    expect(members.map((node) => nameOf(node["key"]))).toEqual(["send"]);
  });

  it.each(journey)("$of.$method calls $calls", (step) => expect(takes(step)).toBe(true));

  it("a step that is not taken would be seen", () => {
    expect(takes({ file: "calls/client-calls", of: "Calls", method: "make", calls: "commitCall" })).toBe(false);
  });
});
