/** What `stores` says of the stores that an owner's runs share, and the reset of one on behalf of a person. */
import { userInfo } from "node:os";
import type { Json, JsonObject } from "../core/json.ts";
import { member, stringMember } from "../core/json.ts";
import { begin } from "../core/mechanism.ts";
import type { Result } from "../core/result.ts";
import { ok } from "../core/result.ts";
import type { LoadedPolicy } from "../gateway/policy-port.ts";
import type { KnownStores, RowReader, StoreWords } from "../gateway/store-resets.ts";
import { knownStores, resetStores } from "../gateway/store-resets.ts";
import { nothingShared, storesInWords, withoutStore } from "../policy/shared-row.ts";
import type { Q } from "../policy/state.ts";
import type { Composition } from "./composition.ts";
import { sha256 } from "./policy-source.ts";

const reader: RowReader = { inWords: storesInWords, without: withoutStore, nothing: nothingShared };

/** Characters of a digest that tells one state of stores from another. */
const markLength = 16;

type Declaring = { readonly policy: LoadedPolicy<Q>; readonly stores: readonly StoreWords[] };

/** Every owner of whose stores something is known. */
export async function storesReport({ gateway, policies }: Composition): Promise<Result<Json, string>> {
  const found = await knownStores(gateway.shared, reader);
  if (!found.ok) return found;
  const declaring = policies.loaded().map((policy) => ({ policy, stores: declaredBy(policy) }));
  return ok({ owners: found.value.map((one) => ownerJson(one, declaring)) });
}

/** A reset that a person asked for: of what was shown, in the process that showed it. */
export async function resetReport({ gateway }: Composition, request: Json): Promise<Result<Json, string>> {
  // Several gateways may serve one user, each with stores of its own; the others have nothing to say.
  if (member(request, "process") !== process.pid) return ok({});
  const owner = stringMember(request, "owner") ?? "";
  const store = stringMember(request, "store");
  const mark = stringMember(request, "mark");
  const reset = await resetStores(gateway.shared, reader, {
    owner,
    store,
    by: `os:${userInfo().uid}`,
    asShown: (known) => markOf(known, store) === mark,
  });
  // A refusal is an answer, too: the reply of another gateway must not cover it.
  return ok(reset.ok ? { reset: { owner, stores: store ?? "all" } } : { refused: reset.error });
}

function ownerJson(known: KnownStores, declaring: readonly Declaring[]): JsonObject {
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
        return words === undefined ? [] : [{ policy: each.policy.source, ...plain(words) }];
      });
      return { ...plain(one), store: one.store, mark: markOf(known, one.store), declared };
    }),
  };
}

function plain({ label, audience, open }: StoreWords): { label: string; audience: string[]; open: string[] } {
  return { label, audience: [...audience], open: [...open] };
}

function declarationOf({ stores }: Declaring, name: string): StoreWords | undefined {
  return stores.find(({ store }) => store === name);
}

/** The stores of a run that has just begun where nothing is shared yet. */
function declaredBy(policy: LoadedPolicy<Q>): readonly StoreWords[] {
  const { q } = begin(policy.engine, "", undefined);
  return storesInWords(policy.exportShared(q)) ?? [];
}

function markOf({ lost, row, stores }: KnownStores, store: string | undefined): string {
  const seen = store === undefined ? [lost, row.value] : stores.filter((one) => one.store === store);
  return sha256(JSON.stringify(seen)).slice(0, markLength);
}
