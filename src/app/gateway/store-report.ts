/** The report of `stores` on the stores that an owner's runs share, and the reset of one on behalf of a user. */
import { userInfo } from "node:os";
import { begin } from "../../core/mechanism.ts";
import { type Result, ok } from "../../core/result.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import {
  type KnownStores,
  type RowReader,
  type StoreWords,
  knownStores,
  resetStores,
} from "../../gateway/runs/store-resets.ts";
import { nothingShared, storesInWords, withoutStore } from "../../policy/semantics/shared-state.ts";
import type { Composition } from "./composition.ts";
import type { OwnerView, Reply, Request } from "./control-contract.ts";
import { sha256 } from "../policy/policy-source.ts";

const reader: RowReader = { inWords: storesInWords, without: withoutStore, nothing: nothingShared };

/** Characters of a digest that tells one state of stores from another. */
const markLength = 16;

type Declaring = { readonly policy: LoadedPolicy; readonly stores: readonly StoreWords[] };

/** Every owner of whose stores something is known. */
export async function storesReport({ gateway, policies }: Composition): Promise<Result<Reply<"stores">, string>> {
  const found = await knownStores(gateway.state, reader);
  if (!found.ok) return found;
  const declaring = policies.loaded().map((policy) => ({ policy, stores: declaredBy(policy) }));
  return ok({ owners: found.value.map((one) => ownerView(one, declaring)) });
}

/** A reset that a user requested: of the shown content, in the process that showed it. */
export async function resetReport(
  { gateway }: Composition,
  { process: shownBy, owner, store, mark }: Request<"stores-reset">,
): Promise<Result<Reply<"stores-reset">, string>> {
  // Several gateways may serve one user, each with stores of its own; the others have nothing to say.
  if (shownBy !== process.pid) return ok({});
  const reset = await resetStores(gateway.state, reader, {
    owner,
    store,
    by: `os:${userInfo().uid}`,
    asShown: (known) => markOf(known, store) === mark,
  });
  // A refusal is an answer, too: the reply of another gateway must not cover it.
  return ok(reset.ok ? { reset: { owner, stores: store ?? "all" } } : { refused: reset.error });
}

function ownerView(known: KnownStores, declaring: readonly Declaring[]): OwnerView {
  const { row, lost, stores } = known;
  const speaking = declaring.filter((one) => stores.some(({ store }) => declarationOf(one, store) !== undefined));
  const strange = lost ? [] : speaking.filter(({ policy }) => policy.importShared(row.value) === undefined);
  return {
    owner: row.owner,
    process: process.pid,
    mark: markOf(known, undefined),
    lost,
    // These policies know other labels, so to them every store may hold everything.
    unreadable: strange.map(({ policy }) => policy.source),
    stores: stores.map((one) => {
      const declared = speaking.flatMap((each) => {
        const words = declarationOf(each, one.store);
        if (words === undefined) return [];
        const { label, audience, open } = words;
        return [{ policy: each.policy.source, label, audience, open }];
      });
      const { label, audience, open } = one;
      return { label, audience, open, store: one.store, mark: markOf(known, one.store), declared };
    }),
  };
}

function declarationOf({ stores }: Declaring, name: string): StoreWords | undefined {
  return stores.find(({ store }) => store === name);
}

/** The stores of a run that has just begun where nothing is shared yet. */
function declaredBy(policy: LoadedPolicy): readonly StoreWords[] {
  const { q } = begin(policy.engine, "", undefined);
  return storesInWords(policy.exportShared(q)) ?? [];
}

function markOf({ lost, row, stores }: KnownStores, store: string | undefined): string {
  const seen = store === undefined ? [lost, row.value] : stores.filter((one) => one.store === store);
  return sha256(JSON.stringify(seen)).slice(0, markLength);
}
