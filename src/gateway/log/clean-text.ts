/**
 * How the log writes JSON. Whatever came from outside passes through `json` or `name` and leaves without anything that
 * looks like a secret. Only what is ours alone is written without a look: numbers, digests, labels and ids.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { maskSecrets, maySecret } from "../../core/secret.ts";
import type { WrittenJson } from "../../wire/message.ts";
import type { LogKeys } from "../store-port.ts";

/** Texts of names that are kept; they are made anew when they are needed again. */
const namesMax = 1_024;

/** Characters from which a text is worth keeping until the next one: several runs may be told of one value. */
const keptCharactersMin = 4_096;

export type CleanText = {
  readonly json: (value: Json) => string;
  /** The same for a text that comes again and again, such as the name of a tool: what it became is remembered. */
  readonly name: (name: string) => string;
  /** Takes the text of a value that comes next from here. */
  readonly expect: (written: WrittenJson) => void;
  /** Lets go of large values. */
  readonly release: () => void;
};

/** What the codecs write with. `contract` gives the digest of a contract, and remembers it as a document to store. */
export type Pen = CleanText & { readonly contract: (contract: ToolContract) => string };

/** Whether `maskSecrets` would change a JSON text. */
export function holdsSecret(text: string, { keyedDigest }: Pick<LogKeys, "keyedDigest">): boolean {
  return maySecret(text) && maskSecrets(JSON.parse(text) as Json, keyedDigest).found.length > 0; // JSON by contract
}

export function cleanText(keys: Pick<LogKeys, "keyedDigest">): CleanText {
  const names = new Map<string, string>();
  let last: WrittenJson | undefined;
  let expected: WrittenJson | undefined;
  const json = (value: Json): string => {
    if (last?.value === value) return last.text;
    const plain = expected?.value === value ? expected.text : JSON.stringify(value);
    // Nearly always a text is clean as it is.
    const text = maySecret(plain) ? JSON.stringify(maskSecrets(value, keys.keyedDigest).value) : plain;
    if (text.length >= keptCharactersMin) last = { value, text };
    return text;
  };
  return {
    json,
    expect: (written) => {
      expected = written;
    },
    release: () => {
      last = undefined;
      expected = undefined;
    },
    name: (name) => {
      let text = names.get(name);
      if (text === undefined) {
        if (names.size >= namesMax) names.clear();
        text = json(name);
        names.set(name, text);
      }
      return text;
    },
  };
}
