/** Ids and names that the gateway makes itself, so that none of a client or server can be taken for one of them. */
import type { RequestId } from "../../wire/message.ts";
import { ownMetaPrefix } from "../../wire/meta.ts";

export const runMetaKey = `${ownMetaPrefix}run`;
export const consentMetaKey = `${ownMetaPrefix}consent`;
export const warningMetaKey = `${ownMetaPrefix}warning`;

/** Ids of our own requests; a client or server that uses the prefix is refused, so they never collide. */
export const ownIdPrefix = "sluicegate:";

/** Begins every id that is made between the eras, states of open questions among them. */
export const eraIdPrefix = "sluicegate-era:";

export const notOpenText =
  "The call that this answers is no longer open. Check its effects, then call without `requestState`.";

/** Ids that no client may use for its requests: ours, and those of the translation between eras. */
export function isReservedId(id: RequestId): boolean {
  return typeof id === "string" && id.startsWith("sluicegate");
}

export function isOwnId(id: RequestId): boolean {
  return typeof id === "string" && id.startsWith(ownIdPrefix);
}

/** Ids of calls and decisions: unique over restarts, without randomness for each. */
export class IdSource {
  readonly #boot: string;
  #count = 0;

  constructor(secrets: { token(): string }) {
    this.#boot = secrets.token().slice(0, 8);
  }

  next(): string {
    this.#count += 1;
    return `${this.#boot}-${this.#count.toString(36)}`;
  }
}
