/** User presence (`approvals.factor: presence`): keys of authenticators, each touched for one proof. */
import type { JsonWebKey } from "node:crypto";
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { FactorFiles } from "./factor-files.ts";
import { type Credential, type Expected, verifyAssertion, verifyRegistration } from "./webauthn.ts";

const name = "presence";

/** Site of the page: browsers give `localhost` the rights of an encrypted site, and no number of an address. */
export const rpId = "localhost";

/** Keys of one user: a spare one or two beside the one in use. */
const credentialsMax = 8;

type Asked = Omit<Expected, "rpId">;

export class PresenceFactor {
  readonly #files: FactorFiles;

  constructor(files: FactorFiles) {
    this.#files = files;
  }

  /** Whether a key is registered; a file that cannot be read counts, since it must not be replaced unproven. */
  enrolled(): boolean {
    return this.#files.names().includes(`${name}.json`);
  }

  /** Ids of the registered keys, for the browser to choose from. */
  ids(): readonly string[] {
    const known = this.#known();
    return known.ok ? known.value.map(({ id }) => id) : [];
  }

  /** Registers the key that answered this challenge. */
  register(answer: Json, asked: Asked): Result<void, string> {
    const known = this.#known();
    if (!known.ok) return known;
    if (known.value.length >= credentialsMax)
      return err(`${credentialsMax} keys are registered: run \`sluicegate factor remove presence\` first.`);
    const made = verifyRegistration(answer, { ...asked, rpId });
    if (!made.ok) return made;
    if (known.value.some(({ id }) => id === made.value.id)) return err("This key is registered already.");
    return this.#keep([...known.value, made.value]);
  }

  /** Checks the answer of a registered key to this challenge, and keeps its new count. */
  check(answer: Json, asked: Asked): Result<void, string> {
    const known = this.#known();
    if (!known.ok) return known;
    const used = known.value.find(({ id }) => id === stringMember(answer, "id"));
    if (used === undefined) return err("The answer is by a key that is not registered.");
    const proven = verifyAssertion(answer, used, { ...asked, rpId });
    if (!proven.ok) return proven;
    if (proven.value.signCount === used.signCount) return ok(undefined);
    return this.#keep(known.value.map((one) => (one === used ? { ...one, ...proven.value } : one)));
  }

  remove(): boolean {
    return this.#files.remove(name);
  }

  #known(): Result<readonly Credential[], string> {
    const read = this.#files.read(name);
    if (!read.ok) return read;
    const listed = member(read.value, "credentials");
    return ok(isArray(listed) ? listed.flatMap((one) => credentialOf(one) ?? []) : []);
  }

  #keep(credentials: readonly Credential[]): Result<void, string> {
    const listed = credentials.map(({ id, alg, key, signCount }) => ({ id, alg, key: { ...key } as Json, signCount }));
    return this.#files.write(name, { credentials: listed });
  }
}

/** A key as it was written; sealed, so only its presence is looked at. */
function credentialOf(value: Json): Credential | undefined {
  const [id, alg, key, signCount] = [
    stringMember(value, "id"),
    member(value, "alg"),
    member(value, "key"),
    member(value, "signCount"),
  ];
  if (id === undefined || typeof alg !== "number" || typeof signCount !== "number" || !isObject(key)) return undefined;
  return { id, alg, key: key as JsonWebKey, signCount };
}
