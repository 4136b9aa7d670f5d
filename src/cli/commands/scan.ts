/**
 * `sluicegate scan [FILE...]`, `scan URL`, `scan -- COMMAND`: what servers say of themselves, before a model reads it.
 * Files are configurations of clients or saved lists; without a word, every configuration that a client of this user has.
 */
import { existsSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Command } from "commander";
import { type Json, isArray, isObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { readManifest } from "../../app/policy/manifest.ts";
import { type ConfiguredServer, configuredServers, serverOfWords } from "../../app/scan/client-config.ts";
import { knownConfigs } from "../../app/scan/known-clients.ts";
import { probeFamily, textOfFamily, textOfRule } from "../../app/scan/finding-texts.ts";
import { sarifOf } from "../../app/scan/sarif.ts";
import { type ScannedServer, type ServerReport, judgeServers, listServers, withoutKnown } from "../../app/scan/scan.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { many, shortPath, shown } from "../../app/state/sentences.ts";
import { fileSentence, textFile, whyUnwritten } from "../../app/state/text-file.ts";
import { type OptionsOf, acts } from "../output.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { durationMs } from "../../policy/values/duration.ts";

const scanOptions = {
  "--fail-on <verdict>": ["exit code 1 from this verdict on: confirm, deny or never", "deny"],
  "--baseline <file>": "an earlier report (--json or SARIF): its findings are not counted again",
  "--sarif <file>": "write SARIF 2.1.0 for code scanning services",
  "--probe": "also call each local server with made-up data, in a projection that nothing leaves (tier A)",
  "--budget <time>": ["longest time for all servers together, for instance 60s", "60s"],
  "--isolation <how>": ["auto: isolate what can be; required: start nothing without; none", "auto"],
} as const;

type Options = OptionsOf<typeof scanOptions>;

export function register(program: Command): void {
  const command = program
    .command("scan [words...]")
    .description(
      "look for text in servers' lists that gives orders to models: all clients', a file, a URL, or -- COMMAND",
    );
  acts(command, scanOptions, (options, words?: string[]) => scan(options, words ?? []));
}

/** A file whose name is an option, as another's file in a list of changed ones may be called: it would not be scanned. */
function optionFile(): string | undefined {
  const words = process.argv.slice(2);
  const end = words.indexOf("--");
  const before = end === -1 || existsSync("--") ? words : words.slice(0, end);
  return before.find((word) => word.startsWith("-") && existsSync(word));
}

async function scan(options: Options, words: readonly string[]): Promise<Outcome> {
  const named = optionFile();
  if (named !== undefined)
    return failure(
      "SG-USAGE",
      `There is a file called \`${shown(named, 80)}\`, so that it is not clear whether it is to be scanned: write \`./\` before it, or rename it.`,
    );
  const settled = settledOf(options);
  if (!settled.ok) return failure("SG-USAGE", settled.error);
  const known = options.baseline === undefined ? ok(new Set<string>()) : fingerprintsIn(options.baseline);
  if (!known.ok) return failure("SG-SCAN", known.error);
  const subjects = subjectsOf(words);
  if (!subjects.ok) return failure("SG-SCAN", subjects.error);
  const { configured, saved } = subjects.value;
  const tell = (line: string): void => void process.stderr.write(`${shown(line, 300)}\n`);
  const listed = configured.length === 0 ? ok([]) : await listServers(configured, { ...settled.value, tell });
  if (!listed.ok) return failure("SG-SCAN", listed.error);
  const reports = judgeServers([...listed.value, ...saved]).map((report) => withoutKnown(report, known.value));
  if (options.sarif !== undefined) {
    const written = write(options.sarif, `${JSON.stringify(sarifOf(reports, ownVersion()), undefined, 2)}\n`);
    if (!written.ok) return failure("SG-SCAN", written.error);
  }
  const worst = { never: [], confirm: ["confirm", "deny"], deny: ["deny"] }[settled.value.failOn];
  const stops = reports.some((report) => worst.includes(report.verdict as never));
  const complete = reports.every((report) => report.gaps.length === 0);
  // What was not read is never clean, so a scan with gaps does not end with 0.
  const exitCode = stops || (!complete && settled.value.failOn !== "never") ? 1 : 0;
  return { exitCode, json: { ok: exitCode === 0, complete, servers: reports }, text: textOf(reports) };
}

type Settled = {
  readonly isolation: "auto" | "required" | "none";
  readonly budgetMs: number;
  readonly probe: boolean;
  readonly failOn: "confirm" | "deny" | "never";
};

const budgetMsMax = 3_600_000;

function settledOf(options: Options): Result<Settled, string> {
  const failOn = (["confirm", "deny", "never"] as const).find((one) => one === options.failOn);
  if (failOn === undefined) return err("`--fail-on` takes confirm, deny or never.");
  const isolation = (["auto", "required", "none"] as const).find((one) => one === options.isolation);
  if (isolation === undefined) return err("`--isolation` takes auto, required or none.");
  const probe = options.probe === true;
  if (probe && isolation === "none") return err("`--probe` needs isolation: leave `--isolation none` out.");
  const budgetMs = durationMs(options.budget) ?? 0;
  if (budgetMs <= 0 || budgetMs > budgetMsMax) return err("`--budget` takes a time such as 60s or 5m, at most 1h.");
  return ok({ isolation, budgetMs, failOn, probe });
}

type Subjects = { readonly configured: readonly ConfiguredServer[]; readonly saved: readonly ScannedServer[] };

function subjectsOf(words: readonly string[]): Result<Subjects, string> {
  // The framework passes on the words behind `--` only: whether it was there tells a command from files.
  if (process.argv.includes("--")) return ok({ configured: [serverOfWords(words, process.cwd())], saved: [] });
  const files = words.length > 0 ? words : knownConfigs(process.cwd()).filter((file) => existsSync(file));
  if (files.length === 0) {
    return err("No client of yours has a list of servers here: name a file, an address, or a command behind `--`.");
  }
  const configured: ConfiguredServer[] = [];
  const saved: ScannedServer[] = [];
  for (const word of files) {
    if (/^https?:/i.test(word)) {
      configured.push(serverOfWords([word], process.cwd()));
      continue;
    }
    const servers = configuredServers(resolve(word));
    if (servers.ok) {
      configured.push(...servers.value);
      continue;
    }
    if (words.length === 0) {
      // A client without servers is no fault of a scan of all clients; what cannot be read is never clean.
      if (servers.error.kind === "unread") saved.push(unread(word, servers.error.sentence));
      continue;
    }
    const manifest = readManifest(word);
    if (!manifest.ok) return err(`${servers.error.sentence} As a saved list: ${manifest.error}`);
    for (const [name, entries] of Object.entries(manifest.value)) {
      const list = { method: "tools/list", entries, gap: undefined };
      saved.push({
        name,
        place: { file: resolve(word), line: 1 },
        lists: [list],
        gap: undefined,
        tier: "saved",
        seen: [],
      });
    }
  }
  return ok({ configured, saved });
}

/** A client's configuration that could not be read, so that its servers are unknown. */
function unread(file: string, gap: string): ScannedServer {
  const place = { file: resolve(file), line: 1 };
  return { name: basename(file), place, lists: [], gap, tier: "saved", seen: [] };
}

const reportBytesMax = 64 * 1024 * 1024;

/** Fingerprints anywhere in an earlier report: those of JSON and of SARIF have the same form. */
function fingerprintsIn(file: string): Result<Set<string>, string> {
  const text = textFile(file, reportBytesMax);
  if (!text.ok)
    return err(fileSentence(file, text.error, "too large for a report.", "name a report of an earlier scan."));
  const report = readJson(text.value);
  if (report === undefined) return err(`${shortPath(file)} is not JSON: name a report of an earlier scan.`);
  const found = new Set<string>();
  const open: Json[] = [report];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next)) {
      for (const [name, value] of Object.entries(next)) {
        if ((name === "fingerprint" || name === "sluicegate/v1") && typeof value === "string") found.add(value);
        else open.push(value);
      }
    }
  }
  return ok(found);
}

function write(file: string, content: string): Result<undefined, string> {
  try {
    writeFileSync(file, content);
    return ok(undefined);
  } catch (cause) {
    return err(`${shortPath(file)} cannot be written (${whyUnwritten(cause)}): name another file with --sarif.`);
  }
}

const words = {
  clean: "nothing found",
  incomplete: "not known",
  confirm: "look at it",
  deny: "do not use it",
} as const;

function textOf(reports: readonly ServerReport[]): string {
  return reports.flatMap(linesOf).join("\n");
}

function triedLine({ probes, coverage, hosts }: NonNullable<ServerReport["probes"]>): string {
  const wanted = hosts.length === 0 ? "it asked for no host" : `it asked for ${hosts.join(", ")}`;
  const tools = `${coverage.run} of ${many(coverage.listed, "tool")}`;
  return `  tried out: ${shown(`${many(probes, "call")} with made-up data to ${tools}; ${wanted}`, 240)}`;
}

/** Every text of a server is shown with its control and direction characters as escapes. */
function linesOf({ server, place, tier, seen, entries, gaps, verdict, reports, probes }: ServerReport): string[] {
  const where = `${basename(place.file)}:${place.line}, ${tier === "none" ? "not isolated" : tier.length === 1 ? `tier ${tier}` : tier}`;
  const head = `${shown(server, 60)} (${where}): ${entries} entries, ${words[verdict]}`;
  const lines = [
    head,
    ...gaps.map((gap) => `  not read: ${shown(gap, 240)}`),
    ...seen.map((sentence) => `  seen: ${shown(sentence, 240)}`),
    ...(probes === undefined ? [] : [triedLine(probes)]),
    ...(probes?.coverage.limits ?? []).map((limit) => `  not looked at: ${limit}`),
  ];
  for (const { list, entry, findings } of reports) {
    lines.push(`  ${shown(entry, 60)} (${list})`);
    for (const { rule, family, pointer, excerpt } of findings) {
      const where = family === probeFamily ? "" : ` at ${shown(pointer === "" ? "its text" : pointer, 80)}`;
      lines.push(`    ${rule}${where}: ${textOfRule(rule)}. ${textOfFamily(family)}`);
      lines.push(`      "${shown(excerpt, 160)}"`);
    }
  }
  if (verdict === "deny")
    lines.push("  Take the server out of the client's configuration, or ask its author what the text is for.");
  if (verdict === "confirm")
    lines.push("  Read the text: if it is honest, keep this report as the --baseline of later scans.");
  return lines;
}
