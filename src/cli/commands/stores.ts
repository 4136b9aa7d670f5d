/** `sluicegate stores [reset NAME]`: what the stores hold that runs share, and a person's word that one is clean again. */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown, table } from "../output.ts";

const usage = "Use `sluicegate stores`, `sluicegate stores reset NAME` or `sluicegate stores reset --all`.";

type Options = Readonly<Record<string, unknown>>;

export function register(program: Command): void {
  const command = program
    .command("stores [word] [name]")
    .description("show what the stores hold that runs share; `stores reset NAME` lets one start as declared")
    .option("--all", "reset every store of the owner")
    .option("--owner <owner>", "whose store it is, where several have one of this name")
    .option("--yes", "do not ask: you vouch for what the question says");
  acts(command, (options, word?: string, name?: string) => stores(options, word, name));
}

function stores(options: Options, word: string | undefined, name: string | undefined): Promise<Outcome> | Outcome {
  const all = options["all"] === true;
  if (word === undefined && !all) return list();
  if (word !== "reset" || all === (name !== undefined)) return failure("SG-USAGE", usage);
  return reset(options, name);
}

async function list(): Promise<Outcome> {
  const answer = await askDaemon({ kind: "stores" });
  if (answer.ok) return { exitCode: 0, json: answer.value, text: storesText(answer.value) };
  if (!answer.error.absent) return failure(answer.error.code, answer.error.sentence);
  return { exitCode: 0, json: { owners: [] }, text: answer.error.sentence };
}

async function reset(options: Options, name: string | undefined): Promise<Outcome> {
  const answer = await askDaemon({ kind: "stores" });
  if (!answer.ok) return failure(answer.error.code, answer.error.sentence);
  const owner = typeof options["owner"] === "string" ? options["owner"] : undefined;
  const chosen = choose(answer.value, name, owner);
  if (chosen.kind === "none") return failure("SG-USAGE", chosen.sentence);
  const card = cardText(chosen.owner, name);
  if (options["yes"] !== true) {
    // A program that pipes into this command is no person who vouches for anything.
    if (!process.stdin.isTTY) {
      return failure(
        "SG-USAGE",
        "`stores reset` asks a person, and this is no terminal: run it in one, or add `--yes` if you vouch that the store holds only what the policy declares.",
      );
    }
    if (!(await agreed(card))) return { exitCode: 1, json: { reset: null }, text: "Nothing was reset." };
  }
  const done = await askDaemon({ kind: "stores-reset", ...requestOf(chosen.owner, name) });
  if (!done.ok) return failure(done.error.code, done.error.sentence);
  const refused = stringMember(done.value, "refused");
  if (refused !== undefined) return failure("SG-DAEMON-REFUSED", refused);
  if (member(done.value, "reset") === undefined) {
    return failure("SG-DAEMON-REFUSED", "The daemon was started anew meanwhile: repeat the command.");
  }
  const said = "Reset, and on record: it counts as what the policy declares from the next run on.";
  return { exitCode: 0, json: done.value, text: options["yes"] === true ? `${card}\n${said}` : said };
}

type Chosen = { readonly kind: "one"; readonly owner: Json } | { readonly kind: "none"; readonly sentence: string };

/** The owner whose store is meant; a store that is lost with all others has no entry of its own to find. */
export function choose(answer: Json, name: string | undefined, wanted: string | undefined): Chosen {
  const owners = listed(member(answer, "owners")).filter(
    (one) => wanted === undefined || stringMember(one, "owner") === wanted,
  );
  const having = owners.filter((one) => name === undefined || storeOf(one, name) !== undefined);
  const [owner] = having;
  if (owner !== undefined && having.length === 1) return { kind: "one", owner };
  if (having.length > 1) {
    const names = shown(having.map((one) => stringMember(one, "owner") ?? "").join(", "), 100);
    return { kind: "none", sentence: `Several owners have it: add \`--owner\` with one of ${names}.` };
  }
  if (name !== undefined && owners.some((one) => member(one, "lost") === true)) {
    const sentence = "What the stores hold was lost, so none can be reset alone: run `sluicegate stores reset --all`.";
    return { kind: "none", sentence };
  }
  const what = name === undefined ? "any store" : `a store \`${shown(name, 60)}\``;
  return {
    kind: "none",
    sentence: `Nothing is known of ${what}, so it is as declared: \`sluicegate stores\` lists them.`,
  };
}

function requestOf(owner: Json, name: string | undefined): { readonly [key: string]: Json } {
  const seen = name === undefined ? owner : (storeOf(owner, name) ?? owner);
  return {
    owner: stringMember(owner, "owner") ?? "",
    process: member(owner, "process") ?? 0,
    mark: stringMember(seen, "mark") ?? "",
    ...(name === undefined ? {} : { store: name }),
  };
}

/** What would be forgotten, and what the person says by agreeing. */
export function cardText(owner: Json, name: string | undefined): string {
  const meant = listed(member(owner, "stores")).filter(
    (one) => name === undefined || stringMember(one, "store") === name,
  );
  const lost =
    member(owner, "lost") === true ? ["  every store: may hold and show everything (its history was lost)"] : [];
  const lines = meant.map((one) => `  ${text(one, "store")}: ${words(one)}; declared: ${declaredText(one)}`);
  return [
    `Sluicegate would forget this of stores of ${text(owner, "owner")}:`,
    ...lost,
    ...lines,
    `You vouch that ${name === undefined ? "each of them" : "the store"} really holds only what the policy declares, and that nobody else reads it any more.`,
  ].join("\n");
}

async function agreed(card: string): Promise<boolean> {
  process.stderr.write(`${card}\n`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    const said = await Promise.race([asking.question("Reset? [y/N] "), closed]);
    return /^y(es)?$/i.test(said.trim());
  } finally {
    asking.close();
  }
}

/** The answer of the daemon to `stores`, for people. */
export function storesText(answer: Json): string {
  const owners = listed(member(answer, "owners"));
  if (owners.every((one) => listed(member(one, "stores")).length === 0 && member(one, "lost") !== true)) {
    return "Every store is as its policy declares.";
  }
  const parts = owners.map((owner) => {
    const rows = listed(member(owner, "stores")).map((one) => [
      `  ${text(one, "store")}`,
      text(one, "label"),
      groups(one, "audience"),
      groups(one, "open"),
      declaredText(one),
    ]);
    const head = ["  store", "holds", "audience", "read unasked by", "declared"];
    const lost =
      member(owner, "lost") === true
        ? ["  Lost, so each may hold and show everything: `sluicegate stores reset --all`."]
        : [];
    const strange = listed(member(owner, "unreadable")).map(
      (policy) =>
        `  ${shown(typeof policy === "string" ? policy : "", 80)} has other labels, so each counts as holding everything there: \`sluicegate stores reset --all\`.`,
    );
    return [text(owner, "owner"), ...(rows.length === 0 ? [] : [table([head, ...rows])]), ...lost, ...strange].join(
      "\n",
    );
  });
  return [...parts, "`sluicegate stores reset NAME` lets a store start as declared again."].join("\n");
}

function words(one: Json): string {
  return `${text(one, "label")}; audience: ${groups(one, "audience")}; read unasked by: ${groups(one, "open")}`;
}

/** What the policies that are loaded now declare; without any, the one that comes decides. */
function declaredText(one: Json): string {
  const all = listed(member(one, "declared")).map(
    (each) => `${text(each, "label")}, audience: ${groups(each, "audience")}`,
  );
  return all.length === 0 ? "by no policy that is loaded now" : [...new Set(all)].join(" or ");
}

function storeOf(owner: Json, name: string): Json | undefined {
  return listed(member(owner, "stores")).find((one) => stringMember(one, "store") === name);
}

function groups(one: Json, name: string): string {
  const found = listed(member(one, name)).map((group) => (typeof group === "string" ? group : ""));
  return found.length === 0 ? "nobody" : shown(found.join(" and "), 60);
}

function listed(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function text(value: Json, name: string): string {
  return shown(stringMember(value, name) ?? "-", 60);
}
