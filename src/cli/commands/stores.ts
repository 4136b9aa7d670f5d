/** `sluicegate stores [reset NAME]`: the content of shared stores, and the user's word that one is clean again. */
import type { Command } from "commander";
import type { OwnerView, Reply, StoreView } from "../../app/gateway/control-contract.ts";
import { agreed } from "../agreed.ts";
import { askDaemon, outcomeOf } from "../control-client.ts";
import { askProven, codeOption } from "../proven.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { type OptionsOf, acts } from "../output.ts";
import { shown, table } from "../../app/state/sentences.ts";

const usage = "Use `sluicegate stores`, `sluicegate stores reset NAME` or `sluicegate stores reset --all`.";

const storeOptions = {
  "--all": "reset every store of the owner",
  "--owner <owner>": "the owner of the store, where several have this name",
  ...codeOption,
  "--yes": "do not ask: you confirm the statement of the question",
} as const;
type Options = OptionsOf<typeof storeOptions>;

export function register(program: Command): void {
  const command = program
    .command("stores [word] [name]")
    .description("show what the stores hold that runs share; `stores reset NAME` lets one start as declared");
  acts(command, storeOptions, (options, word?: string, name?: string) => stores(options, word, name));
}

function stores(options: Options, word: string | undefined, name: string | undefined): Promise<Outcome> | Outcome {
  const all = options.all === true;
  if (word === undefined && !all) return list();
  if (word !== "reset" || all === (name !== undefined)) return failure("SG-USAGE", usage);
  return reset(options, name);
}

async function list(): Promise<Outcome> {
  return outcomeOf(await askDaemon({ kind: "stores" }), storesText, { owners: [] });
}

async function reset(options: Options, name: string | undefined): Promise<Outcome> {
  const answer = await askDaemon({ kind: "stores" });
  if (!answer.ok) return failure(answer.error.code, answer.error.sentence);
  const chosen = choose(answer.value.reply, name, options.owner);
  if (chosen.kind === "none") return failure("SG-USAGE", chosen.sentence);
  const card = cardText(chosen.owner, name);
  if (options.yes !== true) {
    // A program that pipes into this command cannot vouch for anything.
    if (!process.stdin.isTTY) {
      return failure(
        "SG-USAGE",
        "`stores reset` asks on a terminal, and this is not one: run it in one, or add `--yes` to confirm that the store holds only what the policy declares.",
      );
    }
    if (!(await agreed(card, "Reset?"))) return { exitCode: 1, json: { reset: null }, text: "Nothing was reset." };
  }
  const { owner, process: shownBy, mark } = chosen.owner;
  const seen = name === undefined ? { mark } : { mark: storeOf(chosen.owner, name)?.mark ?? mark, store: name };
  const done = await askProven({ kind: "stores-reset", owner, process: shownBy, ...seen }, { code: options.code });
  const said = "Reset, and on record: it counts as what the policy declares from the next run on.";
  if (done.ok && done.value.reply.refused !== undefined) {
    return failure("SG-DAEMON-REFUSED", done.value.reply.refused);
  }
  if (done.ok && done.value.reply.reset === undefined) {
    return failure("SG-DAEMON-REFUSED", "The daemon was started anew meanwhile: repeat the command.");
  }
  return outcomeOf(done, () => (options.yes === true ? `${card}\n${said}` : said));
}

type Chosen =
  | { readonly kind: "one"; readonly owner: OwnerView }
  | { readonly kind: "none"; readonly sentence: string };

/** The owner whose store is meant; a store that is lost with all others has no entry of its own to find. */
export function choose(all: Reply<"stores">, name: string | undefined, wanted: string | undefined): Chosen {
  const owners = all.owners.filter(({ owner }) => wanted === undefined || owner === wanted);
  const having = owners.filter((one) => name === undefined || storeOf(one, name) !== undefined);
  const [owner] = having;
  if (owner !== undefined && having.length === 1) return { kind: "one", owner };
  if (having.length > 1) {
    const names = shown(having.map((one) => one.owner).join(", "), 100);
    return { kind: "none", sentence: `Several owners have it: add \`--owner\` with one of ${names}.` };
  }
  if (name !== undefined && owners.some(({ lost }) => lost)) {
    const sentence = "What the stores hold was lost, so none can be reset alone: run `sluicegate stores reset --all`.";
    return { kind: "none", sentence };
  }
  const what = name === undefined ? "any store" : `a store \`${shown(name, 60)}\``;
  return {
    kind: "none",
    sentence: `Nothing is known of ${what}, so it is as declared: \`sluicegate stores\` lists them.`,
  };
}

/** The content that a reset removes, and the statement that the user makes by agreeing. */
export function cardText({ owner, lost, stores }: OwnerView, name: string | undefined): string {
  const meant = stores.filter(({ store }) => name === undefined || store === name);
  return [
    `Sluicegate would forget this of stores of ${brief(owner)}:`,
    ...(lost ? ["  every store: may hold and show everything (its history was lost)"] : []),
    ...meant.map((one) => {
      const holds = `${brief(one.label)}; audience: ${groups(one.audience)}; read unasked by: ${groups(one.open)}`;
      return `  ${brief(one.store)}: ${holds}; declared: ${declaredText(one)}`;
    }),
    `You confirm that ${name === undefined ? "each of them" : "the store"} holds only what the policy declares, and that no other reader remains.`,
  ].join("\n");
}

/** The answer of the daemon to `stores`, as text. */
export function storesText({ owners }: Reply<"stores">): string {
  if (owners.every(({ stores, lost }) => stores.length === 0 && !lost)) return "Every store is as its policy declares.";
  const parts = owners.flatMap(({ owner, stores, lost, unreadable }) => {
    const rows = stores.map((one) => [
      `  ${brief(one.store)}`,
      brief(one.label),
      groups(one.audience),
      groups(one.open),
      declaredText(one),
    ]);
    const head = ["  store", "holds", "audience", "read unasked by", "declared"];
    return [
      brief(owner),
      ...(rows.length === 0 ? [] : [table([head, ...rows])]),
      ...(lost ? ["  Lost, so each may hold and show everything: `sluicegate stores reset --all`."] : []),
      ...unreadable.map(
        (policy) =>
          `  ${shown(policy, 80)} has other labels, so each counts as holding everything there: \`sluicegate stores reset --all\`.`,
      ),
    ];
  });
  return [...parts, "`sluicegate stores reset NAME` lets a store start as declared again."].join("\n");
}

/** The declarations of the loaded policies; without any, the next policy decides. */
function declaredText({ declared }: StoreView): string {
  const all = declared.map(({ label, audience }) => `${brief(label)}, audience: ${groups(audience)}`);
  return all.length === 0 ? "by no policy that is loaded now" : [...new Set(all)].join(" or ");
}

function storeOf({ stores }: OwnerView, name: string): StoreView | undefined {
  return stores.find(({ store }) => store === name);
}

function groups(names: readonly string[]): string {
  return names.length === 0 ? "nobody" : shown(names.join(" and "), 60);
}

const brief = (text: string): string => shown(text, 60);
