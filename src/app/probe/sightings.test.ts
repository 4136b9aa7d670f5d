import { describe, expect, it } from "vitest";
import { traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { isolationOrder } from "../../policy/ir/isolation-order.ts";
import { compiledFrom } from "../policy/named-policy.ts";
import { nodeOptions } from "./other-date.ts";
import { hostsIn, sightingsOf, textsOf } from "./sightings.ts";

const compiled = compiledFrom({ file: "probe", document: { version: 1, isolation: {} } });
const order = compiled.ok ? isolationOrder(compiled.value, "tried") : undefined;

function rules(events: readonly Partial<EffectEvent>[], tool = "read_page"): readonly string[] {
  if (order === undefined) throw new Error("the built-in scope is no order");
  // Its first program is the server itself, which a shell may start.
  const all = traceOf([{}, { action: "process-spawn", program: "/bin/sh" }, ...events]);
  return sightingsOf(order, all, tool)
    .map(({ rule }) => rule)
    .filter((rule) => rule !== "file.read");
}

const spawn = (commandLine: string): Partial<EffectEvent> => {
  const program = `/usr/bin/${commandLine.split(" ")[0] ?? ""}`;
  return { action: "process-spawn", outcome: "unknown", grade: "hint", program, commandLine };
};

describe("programs that a tool starts", () => {
  it.each([
    ["unshare --user --map-root-user id", "process.privileged"],
    ["nsenter --target 1 --mount sh", "process.privileged"],
    ["crontab -", "process.privileged"],
    ["sudo -n true", "process.privileged"],
    ["sh -c true", "process.shell"],
    ["busybox wget", "process.shell"],
    ["node -e 1", "process.code"],
    ["node --no-warnings --eval 1", "process.code"],
    ["python3.12 -c import os", "process.code"],
    ["deno eval 1", "process.code"],
    ["perl -e 1", "process.code"],
    ["python3 -c from multiprocessing.spawn import main; main(5); import os", "process.code"],
  ])("%s is seen", (line, rule) => {
    expect(rules([spawn(line)])).toContain(rule);
  });

  it.each([
    "wc -w",
    "git log -c",
    "node server.js",
    "python3 -m http.server",
    "python3 -c from multiprocessing.resource_tracker import main;main(5)",
  ])("%s is not", (line) => {
    expect(rules([spawn(line)])).toEqual([]);
  });

  it("that says by its name that it runs some are expected, but for those with rights of their own", () => {
    expect(rules([spawn("sh -c true"), spawn("node -e 1")], "run_command")).toEqual([]);
    expect(rules([spawn("crontab -")], "run_command")).toEqual(["process.privileged"]);
  });

  it("is seen as an attempt where the program is not there", () => {
    expect(rules([{ ...spawn("nsenter -t 1"), outcome: "failed" }])).toEqual(["process.privileged"]);
  });
});

it("hosts, and texts of what was sent, but no paths of what was read", () => {
  const trace = traceOf([
    { action: "dns-query", domain: "a.example" },
    { action: "net-connect", address: "198.18.1.0" },
    { action: "net-connect", address: "203.0.113.9" },
    { action: "net-send", domain: "a.example", detail: "POST a.example/ k1" },
    { action: "file-read", path: "/home/ada/k2" },
  ]);
  expect(hostsIn(trace)).toEqual(["a.example", "203.0.113.9", "a.example"]);
  expect(textsOf(trace)).toEqual(["a.example", "a.example", "POST a.example/ k1"]);
  expect([hostsIn(undefined), textsOf(undefined)]).toEqual([[], []]);
});

it("the metadata service is asked for keys by nothing that is honest", () => {
  expect(rules([{ action: "net-connect", address: "169.254.169.254", outcome: "denied" }])).toContain(
    "metadata.address",
  );
});

it("options of Node for another date keep those that a server has", () => {
  expect(nodeOptions(undefined, "/mark")).toMatch(/^--import=data:text\/javascript,[^ ]+$/);
  expect(nodeOptions("--no-warnings", "/mark")).toMatch(/^--no-warnings --import=/);
  expect(decodeURIComponent(nodeOptions("--no-warnings", "/mark"))).toContain('NODE_OPTIONS="--no-warnings"');
});
