/**
 * Names at the merged endpoint (gateway.md 7). A name that only one server uses stays as it is; on collision every
 * server's one gets the prefix `NAME__`. Deterministic in the set of servers and names, whatever order they answer in.
 */
export type NamedBy = { readonly server: string; readonly name: string };

/** What clients and model providers accept as the name of a tool. */
export const mergedNameCharactersMax = 64;

const tailCharacters = 8;

export class MergedNames {
  readonly #shown = new Map<string, NamedBy>();
  readonly #byOrigin = new Map<string, string>();

  /** `lists`: names by server. */
  constructor(lists: ReadonlyMap<string, readonly string[]>, hash: (text: string) => string) {
    const uses = new Map<string, number>();
    for (const names of lists.values()) for (const name of new Set(names)) uses.set(name, (uses.get(name) ?? 0) + 1);
    for (const server of [...lists.keys()].sort()) {
      for (const name of new Set(lists.get(server))) {
        const wanted = uses.get(name) === 1 ? name : `${server}__${name}`;
        const taken = wanted !== name && (uses.has(wanted) || this.#shown.has(wanted));
        this.#add(taken || wanted.length > mergedNameCharactersMax ? tailed(server, name, hash) : wanted, {
          server,
          name,
        });
      }
    }
  }

  /** The server and its own name behind a name that clients see. */
  resolve(shown: string): NamedBy | undefined {
    return this.#shown.get(shown);
  }

  shownAs(server: string, name: string): string {
    return this.#byOrigin.get(`${server} ${name}`) ?? name;
  }

  #add(shown: string, origin: NamedBy): void {
    this.#shown.set(shown, origin);
    this.#byOrigin.set(`${origin.server} ${origin.name}`, shown);
  }
}

/** A name cut to fit, with a tail that tells it from every other one that starts alike. */
function tailed(server: string, name: string, hash: (text: string) => string): string {
  const tail = hash(`${server} ${name}`).slice(0, tailCharacters);
  return `${`${server}__${name}`.slice(0, mergedNameCharactersMax - tailCharacters - 1)}_${tail}`;
}

const scheme = "sluicegate://";

/** A resource URI (or template) of a server as clients of the merged endpoint see it. */
export function wrapUri(server: string, uri: string): string {
  return `${scheme}${server}/${uri}`;
}

export function unwrapUri(wrapped: string): { readonly server: string; readonly uri: string } | undefined {
  if (!wrapped.startsWith(scheme)) return undefined;
  const slash = wrapped.indexOf("/", scheme.length);
  if (slash < 0) return undefined;
  return { server: wrapped.slice(scheme.length, slash), uri: wrapped.slice(slash + 1) };
}
