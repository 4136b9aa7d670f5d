/** Faults of commands, produced by the commands themselves in this process, in a state folder of their own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { vi } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { main } from "../../src/cli/main.ts";
import type { LogEntry } from "../../src/gateway/ports/store.ts";
import { readJson } from "../../src/gateway/log/json-text.ts";
import { member, stringMember } from "../../src/core/json.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { prune } from "../../src/gateway/runs/retention/run-retention.ts";
import { kept } from "../kit/gateway/kept-log.ts";
import { callEntries, lattice, unwrap } from "../kit/gateway/log-records.ts";
import { smallPolicyText, smallText } from "../kit/policy/stpa-document.ts";

type Fault = { readonly code: string; readonly sentence: string };

export type CommandRow = { readonly code: string; readonly names: string; readonly produce: () => Promise<Fault> };

type World = { readonly root: string; readonly home: string; readonly run: string };

/** Runs a command with `--json` and gives the error it printed. */
async function faultOf(words: readonly string[], prepare: (world: World) => Promise<void> | void): Promise<Fault> {
  const root = mkdtempSync(join(tmpdir(), "sg-e-"));
  const world: World = { root, home: join(root, "home"), run: join(root, "run") };
  for (const folder of [world.home, world.run]) mkdirSync(folder, { mode: 0o700 });
  vi.stubEnv("SLUICEGATE_HOME", world.home);
  vi.stubEnv("SLUICEGATE_RUNTIME_DIR", world.run);
  let printed = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text, ...rest: unknown[]) => {
    printed += String(text);
    const done = rest.find((one) => typeof one === "function");
    if (done !== undefined) (done as () => void)(); // the only function that `write` takes
    return true;
  });
  try {
    await prepare(world);
    const exitCode = await main([...words.map((word) => word.replace("ROOT", root)), "--json"]);
    const error = member(readJson(printed), "error");
    const sentence = (stringMember(error, "message") ?? "").replaceAll(root, "/somewhere");
    return {
      code: exitCode === 2 ? (stringMember(error, "code") ?? printed) : `exit ${exitCode}: ${printed}`,
      sentence,
    };
  } finally {
    write.mockRestore();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
    rmSync(root, { recursive: true, force: true });
  }
}

const row = (
  code: string,
  words: string,
  names: string,
  prepare: (world: World) => Promise<void> | void = () => {},
): CommandRow => ({
  code,
  names,
  produce: () => faultOf(words.split(" "), prepare),
});

const file =
  (name: string, text: string) =>
  ({ root }: World): void =>
    writeFileSync(join(root, name), text);

/** A log with one refused call of the run `run-1`. */
async function loggedRun(home: string, payload: "sealed" | "digests"): Promise<void> {
  const store = unwrap(openSqliteStore({ path: join(home, "log.db"), durability: "normal", wallMs: Date.now }));
  const about = { at: 1, call: "call-1", server: "mail", tool: "send" };
  const entry: LogEntry = {
    run: "run-1",
    at: 1,
    context: { policyDigest: "policy-1", policyText: "{}", lattice, payload },
    events: [{ ...about, kind: "refused", digest: "digest-1", codes: ["SG-RULE-BLOCK"] }],
    details: { method: "tools/call", arguments: {} },
  };
  await kept([entry], { folder: home, store });
  await store.close(true);
}

/** A log with a run that left it. */
async function leftRun(home: string): Promise<void> {
  const wallMs = 20_000 * 86_400_000;
  const store = unwrap(openSqliteStore({ path: join(home, "log.db"), durability: "normal", wallMs: () => wallMs }));
  const keys = unwrap(openKeys(join(home, "keys")));
  const log = unwrap(await openEventLog({ store, keys, wallMs: () => wallMs, chain: "c".repeat(32) }, 0));
  const times = { begunWallMs: 1, endedWallMs: 1, idleExpiresWallMs: 1 };
  const row = { key: "run-1", principal: "os:1", policyDigest: "p", ...times, top: false, resume: {} };
  for (const entry of callEntries("run-1", "call-1", {})) unwrap(await log.append([entry], { runs: [row] }));
  const pause = (): Promise<boolean> => Promise.resolve(true);
  unwrap(await prune(log, { keepDays: 30, wallMs, atMs: () => 1, isOpen: () => false, pause }));
  await log.close(1);
}

/** A log with a record that was changed. */
async function alteredLog(home: string): Promise<void> {
  await loggedRun(home, "sealed");
  const database = new DatabaseSync(join(home, "log.db"));
  database.exec("UPDATE records SET body = replace(body, 'mail', 'post')");
  database.close();
}

/** A socket on which somebody else answers: nothing, or the line given. */
const listening =
  (line: string | undefined) =>
  ({ run }: World): Promise<void> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => void (line === undefined ? socket.destroy() : socket.end(`${line}\n`)));
        server.close();
      });
      server.listen(join(run, "daemon.sock"), () => resolve());
    });

const small = (world: World): void => {
  file("s.yaml", smallText)(world);
  file("p.yaml", smallPolicyText)(world);
};

const policy = "version: 1\nlabels: {a.x: {}, b.x: {}}\n";

/** One unknown key of a rule, where the remedy lists all that there are. */
const crowded = `version: 1\nrules: [{id: R, tier: allow, when: {tool: a.x}, why: w, ${"z".repeat(150)}: 1}]\n`;

const proved = `version: 1
labels: {mail.send: {effects: write.external.send}}
hazards: {H1: {never: {call: mail.send}}}
rules: [{id: R1, tier: block, when: {tool: mail.send}, why: nothing is sent}]
`;

const elsewhere = `version: 1
lattice: {categories: [nowhere]}
rules: [{id: R1, tier: block, when: {effect: write, data: {categories: [nowhere]}}, why: it stays}]
`;

export const commandRows: readonly CommandRow[] = [
  row("SG-USAGE", "polcy check x", "polcy"),
  row("SG-USAGE", "policy chek x", "chek"),
  row("SG-USAGE", "replay x --polcy y", "--polcy"),
  row("SG-USAGE", "labels", "manifest"),
  row("SG-USAGE", "labels a b c", "takes 1 argument"),
  row("SG-USAGE", "labels ROOT/m.json --server a.b", "no dot", file("m.json", "[]")),
  row("SG-USAGE", "replay x --consent perhaps", "--consent"),
  row("SG-USAGE", "runs open", "runs"),
  row("SG-USAGE", "stores open", "stores"),
  row("SG-USAGE", "stores reset x --all", "stores"),
  row("SG-USAGE", "approve x --value --refuse", "--refuse"),
  row("SG-USAGE", "audit tail -n many", "-n"),
  row("SG-USAGE", "audit export --format pdf", "pdf"),
  row("SG-USAGE", "audit verify --log both", "--log"),
  row("SG-USAGE", "bench nothing", "suite"),
  row("SG-USAGE", "policy import cursor x", "cursor"),
  row("SG-POLICY", "policy check ROOT/none.yaml", "none.yaml"),
  row("SG-POLICY", "policy explain ROOT/p.yaml a.x", "p.yaml", file("p.yaml", "version: 1\nmdoe: x\n")),
  row("SG-POLICY", "labels ROOT/m.json --policy ROOT/none.yaml", "none.yaml", file("m.json", "[]")),
  // A remedy that lists words, and a value that fills its line.
  row("SG-POLICY", "policy explain ROOT/p.yaml a.x", "[SG-POLICY-KEY]", file("p.yaml", crowded)),
  row("SG-POLICY", "proof verify ROOT/p.yaml", "[SG-POLICY-KEY]", file("p.yaml", crowded)),
  row("SG-POLICY", "labels ROOT/m.json --policy ROOT/p.yaml", "[SG-POLICY-KEY]", (world) => {
    file("m.json", "[]")(world);
    file("p.yaml", crowded)(world);
  }),
  row("SG-MANIFEST", "labels ROOT/none.json", "none.json"),
  row("SG-MANIFEST", "policy check default --manifest ROOT/none.json", "there is no such file"),
  row("SG-MANIFEST", "policy check default --manifest ROOT", "it is a folder"),
  row("SG-MANIFEST", "policy check default --manifest a.b=ROOT/m.json", "no dot", file("m.json", "[]")),
  row("SG-MANIFEST", "labels ROOT/m.json", "m.json", file("m.json", "{")),
  row("SG-MANIFEST", "labels ROOT/m.json", "m.json", file("m.json", '{"tools": [{}]}')),
  row("SG-MANIFEST", "labels ROOT/m.json", "twice", file("m.json", '{"tools": [], "tools": []}')),
  row("SG-TOOL", "policy explain ROOT/p.yaml x", "SERVER.x", file("p.yaml", policy)),
  row("SG-IMPORT", "policy import claude ROOT/none.json", "none.json"),
  row("SG-IMPORT", "policy import claude ROOT/s.json", "s.json", file("s.json", "{")),
  row("SG-IMPORT", "policy import toolhive ROOT/s.json", "has none of", file("s.json", "{}")),
  row("SG-TRACE", "replay ROOT/none.json", "none.json"),
  row("SG-TRACE", "replay ROOT/none.json", "there is no such file"),
  row("SG-TRACE", "replay ROOT", "it is a folder"),
  row("SG-TRACE", "replay ROOT/t.json", "t.json", file("t.json", "{")),
  row("SG-TRACE", "replay ROOT/t.json", "version", file("t.json", "{}")),
  row("SG-REPLAY-RUN", "replay --run nobody", "log"),
  row("SG-REPLAY-RUN", "replay --run nobody", "nobody", async ({ home }) => {
    await loggedRun(home, "sealed");
  }),
  row("SG-REPLAY-PAYLOAD", "replay --run run-1", "digests", async ({ home }) => {
    await loggedRun(home, "digests");
  }),
  row("SG-BENCH-DATA", "bench agentdojo --data ROOT", "agentdojo"),
  // The servers of the measurement get the environment, and no Node starts with such options.
  row("SG-BENCH-FAILED", "bench isolation --quick", "bare", () => void vi.stubEnv("NODE_OPTIONS", "--no-such-option")),
  row("SG-USAGE", "learn --json --server a.b -- node", "no dot"),
  row("SG-LEARN-NOTHING", "learn notes", "notes"),
  row("SG-SCAN", "scan --json ROOT/none.json", "none.json"),
  row("SG-SCAN", "scan --json ROOT", "it is a folder"),
  row("SG-PACKAGES", "packages", "sluicegate.lock", ({ home }) => writeFileSync(join(home, "sluicegate.lock"), "{")),
  row("SG-USAGE", "packages remove", "packages update"),
  row("SG-USAGE", "packages update nothing", "nothing"),
  row("SG-LEARN-CALLS", "learn --json --server notes --calls ROOT/none.json -- node", "none.json"),
  row("SG-LEARN-CALLS", "learn --json --server notes --calls ROOT -- node", "it is a folder"),
  row("SG-LEARN-FAILED", "learn --json --server notes -- /no/such/server", "/no/such/server"),
  row("SG-TRAIN", "train --check --out ROOT/p.yaml", "p.yaml", file("p.yaml", "taken")),
  row("SG-USAGE", "train --seed many", "--seed"),
  row("SG-USAGE", "train --engine trl", "--export"),
  row("SG-USAGE", "train --serve-reward x", "--serve-reward"),
  row("SG-PROOF-READ", "proof check ROOT/none", "none"),
  row("SG-PROOF-READ", "proof check ROOT/none", "there is no such file"),
  row("SG-PROOF-READ", "proof check ROOT", "without certificates"),
  row("SG-PROOF-READ", "proof check ROOT/c.json", "c.json", file("c.json", "{")),
  row("SG-PROOF-WRITE", "proof verify ROOT/p.yaml --cert-dir ROOT/p.yaml", "p.yaml", file("p.yaml", proved)),
  row("SG-PROOF-DIFF", "proof diff ROOT/p.yaml default", "nowhere", file("p.yaml", elsewhere)),
  row("SG-PROOF-EXPORT", "proof export ROOT/p.yaml --to smtlib --hazard H2", "H2", file("p.yaml", proved)),
  row("SG-PROOF-WRITE", "proof export ROOT/p.yaml --to alloy --out ROOT/no/f", "no/f", file("p.yaml", proved)),
  row("SG-USAGE", "proof export ROOT/p.yaml --to latex", "smtlib", file("p.yaml", proved)),
  row("SG-POLICY", "proof verify ROOT/none.yaml", "none.yaml"),
  row("SG-MANIFEST", "proof verify default --manifest ROOT/none.json", "none.json"),
  row("SG-AUDIT-POLICY", "audit policy nobody", "nobody"),
  row("SG-AUDIT-LEFT", "replay --run run-1", "run-1", ({ home }) => leftRun(home)),
  row("SG-AUDIT-LEFT", "audit policy run-1", "record 1/4", ({ home }) => leftRun(home)),
  row("SG-AUDIT-PRUNE", "audit prune", "findings", ({ home }) => alteredLog(home)),
  row("SG-USAGE", "audit prune --keep-days 0", "--keep-days"),
  row("SG-AUDIT-ANCHOR", "audit verify --anchor ROOT/none.json", "none.json"),
  row("SG-AUDIT-ANCHOR", "audit verify --anchor ROOT", "it is a folder"),
  row("SG-AUDIT-ANCHOR", "audit verify --anchor ROOT/r.json", "r.json", file("r.json", "{}")),
  row("SG-AUDIT-OUT", "audit export --out ROOT/none/out.jsonl", "out.jsonl"),
  row("SG-STPA", "stpa check ROOT/none.yaml", "none.yaml"),
  row("SG-STPA", "stpa compile ROOT/s.yaml", "s.yaml", file("s.yaml", "version: 1\nlosess: {}\n")),
  row("SG-POLICY", "stpa compile ROOT/s.yaml --over ROOT/none.yaml", "none.yaml", file("s.yaml", smallText)),
  row("SG-USAGE", "stpa check ROOT/s.yaml --proof x", "--policy", file("s.yaml", smallText)),
  row("SG-USAGE", "stpa report ROOT/s.yaml --html --markdown", "--html", file("s.yaml", smallText)),
  row("SG-USAGE", "stpa draft", "--manifest"),
  row("SG-STPA-PROOF-FILE", "stpa check ROOT/s.yaml --policy ROOT/p.yaml --proof ROOT/none.json", "none.json", small),
  row("SG-STPA-PROOF-FILE", "stpa check ROOT/s.yaml --policy ROOT/p.yaml --proof ROOT/p.yaml", "p.yaml", small),
  row("SG-STPA-PROOF-FILE", "stpa check ROOT/s.yaml --policy ROOT/p.yaml --proof ROOT/x.json", "x.json", (world) => {
    small(world);
    file("x.json", "{}")(world);
  }),
  row("SG-STPA-OUT", "stpa compile ROOT/s.yaml --out ROOT/none/p.yaml", "p.yaml", file("s.yaml", smallText)),
  row("SG-MANIFEST", "stpa draft --manifest ROOT/none.json", "none.json"),
  row("SG-POLICY", "stpa draft --manifest ROOT/m.json --policy ROOT/none.yaml", "none.yaml", file("m.json", "[]")),
  row("SG-POLICY", "stpa report ROOT/s.yaml --policy ROOT/none.yaml", "none.yaml", file("s.yaml", smallText)),
  row("SG-LOG-KEYS", "audit verify", "keys", ({ home }) => writeFileSync(join(home, "log.db"), "")),
  row("SG-LOG-DAMAGED", "audit verify", "log.db", ({ home }) => writeFileSync(join(home, "log.db"), "no database")),
  row("SG-DAEMON-ABSENT", "approve 1234", "daemon"),
  row("SG-DAEMON-FOLDER", "approve 1234", "/dev/null", () => void vi.stubEnv("SLUICEGATE_HOME", "/dev/null/x")),
  row("SG-DAEMON-UNREACHABLE", "approve 1234", "daemon", listening(undefined)),
  row(
    "SG-FACTOR",
    "approve 1234",
    "--code",
    listening('{"kind":"value","value":{"tickets":[{"ticket":"t","factor":"device"}]}}'),
  ),
  row(
    "SG-DAEMON-REFUSED",
    "approve 1234",
    "daemon",
    listening('{"kind":"refused","reason":"refused","version":"0","refused":"The daemon is about to end: try again."}'),
  ),
];

/** Codes that no unit can produce, and why. */
export const unproduced: Readonly<Record<string, string>> = {
  "SG-DAEMON-HOME": "needs a running daemon; test/cli/daemon-command shows it",
  "SG-DAEMON-START": "starts a daemon; test/cli/daemon-command shows it",
  "SG-DAEMON-GONE": "needs a daemon that ends while a command listens; test/process shows it",
  "SG-RUNS-CONTROL": "needs a gateway; test/cli/run-requests.test.ts shows it",
  "SG-RUNS-REFUSED": "needs a gateway; test/cli/run-requests.test.ts shows it",
  "SG-RUNS-UNKNOWN": "needs a gateway; test/cli/run-requests.test.ts shows it",
  "SG-POLICY-TIE": "needs two policy files beside each other; src/app/policy/policy-files.test.ts shows the sentence",
  "SG-POLICY-START": "needs an engine; test/cli/policy.test.ts shows it",
  "SG-POLICY-EXPECT": "needs an engine; test/policy/expectations.test.ts and test/cli/policy.test.ts show it",
};
