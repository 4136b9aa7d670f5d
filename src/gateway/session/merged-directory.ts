/**
 * What the servers behind a merged endpoint list, as its clients see it. It outlives a connection, which in the modern
 * era is a single POST. A server that has not listed yet is not one that lists nothing: a name may be its own.
 */
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { ErrorMessage, RequestId } from "../../wire/message.ts";
import type { ListMethod } from "../upstream/listed-tools.ts";
import { MergedNames, type NamedBy } from "./merged-names.ts";

export class MergedDirectory {
  /** The names that each server listed when it last answered, by method and server. */
  readonly #listed = new Map<string, readonly string[]>();
  readonly #names = new Map<ListMethod, MergedNames>();

  /** The server and its own name behind a name that clients see; undefined also while no list was asked for. */
  resolve(method: ListMethod, shown: string): NamedBy | undefined {
    return this.#names.get(method)?.resolve(shown);
  }

  /** Those of the servers that have never answered with this list. */
  unlisted(method: ListMethod, servers: Iterable<string>): readonly string[] {
    return [...servers].filter((server) => !this.#listed.has(`${method} ${server}`));
  }

  /**
   * Names everything anew. `now` gives what a server lists at this moment, undefined where that is not known: then its
   * names stay what they were, otherwise a name that the client remembers would come to mean another server's tool.
   */
  learn(
    method: ListMethod,
    servers: Iterable<string>,
    now: (server: string) => readonly string[] | undefined,
    hash: (text: string) => string,
  ): MergedNames {
    const names = new Map<string, readonly string[]>();
    for (const server of servers) {
      const known = now(server);
      if (known !== undefined) this.#listed.set(`${method} ${server}`, known);
      names.set(server, known ?? this.#listed.get(`${method} ${server}`) ?? []);
    }
    const merged = new MergedNames(names, hash);
    this.#names.set(method, merged);
    return merged;
  }
}

/** The answer to a request by a name that stands for nothing; `unlisted`: servers that may still have it. */
export function unknownName(id: RequestId, shown: string, [unlisted]: readonly string[]): ErrorMessage {
  const name = shown.slice(0, 64);
  if (unlisted === undefined) {
    const text = `No server has \`${name}\`. List again and use a listed name.`;
    return errorMessage(id, errorCodes.invalidParams, text);
  }
  const text = `Not sent: no server that has listed has \`${name}\`, and \`${unlisted}\` has not listed. Try again, or check whether it runs.`;
  return errorMessage(id, errorCodes.internalError, text);
}
