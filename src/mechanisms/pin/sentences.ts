/**
 * Text of a server cut into sentences, and sentences into tokens with the word classes that they belong to. One pass over
 * the text, no backtracking: the text is hostile, and its length is the only bound on the work.
 */
import { asLatin } from "./look-alikes.ts";
import { type WordClass, phraseIndex, stemOf } from "./words.ts";

/** What a token is by its form, or by what the caller knows of it. */
export type FormClass =
  | "recipient"
  | "address"
  | "sensitivePath"
  | "path"
  | "commandLine"
  | "ownTool"
  | "otherTool"
  | "identifier"
  | "parameter";

export type TokenClass = WordClass | FormClass;

/** Names that the text may speak of; lower case. */
export type Names = {
  readonly own: string;
  /** Other tools that the client may have at the same time. */
  readonly others: Pick<ReadonlySet<string>, "has">;
  readonly parameters: ReadonlySet<string>;
};

/** Classes of the token at each position. A phrase counts at the position of its first word. */
export type Sentence = {
  readonly text: string;
  readonly classes: readonly ReadonlySet<TokenClass>[];
};

/** Characters that show nothing: format characters (bidi, zero width, tags), variation selectors, private use. */
const invisible = /[\p{Cf}\p{Co}\p{VS}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/gu;

export function visible(text: string): string {
  return text.replace(invisible, "");
}

/** The text as a reader takes it in: compatibility forms folded, marks on Latin letters gone, quotes made plain. */
function plain(text: string): string {
  return visible(text)
    .normalize("NFKD")
    .replace(/(?<=\p{Script=Latin})\p{Mn}+/gu, "")
    .normalize("NFKC")
    .replace(/[\u2018\u2019\u02BC\u0060\u00B4]/gu, "'")
    .replace(/[\u201C\u201D]/gu, '"');
}

const token =
  /https?:\/\/[^\s"'<>)\]]+|[\w.+-]+@[\w-]+\.[\w.-]+|\+\d[\d ()-]{6,20}|(?<![\w:@])@\w+|(?:~|\.{1,2})?\/[\w.~@%+*/-]*|\$\(|&&|\|\||\.?[\p{L}\p{N}_$][\p{L}\p{N}_.'’%/-]*/gu;
const boundary = /[.!?;](?=\s|$)|\n\s*\n|\n\s*(?=[-*•\d]|\w+:)|:\s*\n/u;

/** A remark in the middle of a sentence, which may only stand there to part two words of an order. */
const remark = / ?\([^()\n]{8,160}\)(?=[ ,])/gu;

/**
 * Sentences of a text, and those with remarks in parentheses once more without them. `names` are those that a rule may
 * speak of.
 */
export function sentencesOf(text: string, names: Names): Sentence[] {
  const parts = plain(text)
    .split(boundary)
    .filter((part) => part.trim() !== "");
  return parts.flatMap((part) => {
    const bare = part.includes("(") ? part.replace(remark, "") : part;
    return bare === part ? [sentence(part, names)] : [sentence(part, names), sentence(bare, names)];
  });
}

function sentence(part: string, names: Names): Sentence {
  const words = [...part.matchAll(token)].map(([word]) => asLatin(word.replace(/[.'’-]+$/u, "")));
  const stems = words.map((word) => stemOf(word.toLowerCase()));
  const classes = words.map((word) => new Set<TokenClass>(formsOf(word, names)));
  for (const [index, stem] of stems.entries()) {
    for (const { rest, of } of phraseIndex.get(stem) ?? []) {
      if (rest.every((next, offset) => stems[index + 1 + offset] === next)) classes[index]?.add(of);
    }
  }
  return { text: part, classes };
}

const sensitive =
  /(?:^|\/)(?:\.(?:bash|zsh|sh|profile|cshrc|ssh|aws|netrc|env|git-credentials|gitconfig|npmrc|pypirc|kube|docker|gnupg|azure|cursor|claude)(?!\.(?:example|sample|template))\w*|id_(?:rsa|ed25519|ecdsa)|authorized_keys|known_hosts|(?<=\/)credentials|credentials\.\w+|etc\/(?:passwd|shadow|sudoers|hosts|crontab)|mcp\.json|launchagents|wallet\.dat)\b/u;
/** Where something can be sent: a mail address, a number of a telephone, a handle, an address without a name. */
const recipient = /^[\w.+-]+@[\w-]+\.|^\+\d|^@\w{3}|^https?:\/\/\d+\./u;
const commandWord =
  /^(?:\$\(|&&|\|\||sudo|curl|wget|chmod|chown|bash|sh|powershell|rm|nc|netcat|crontab|eval|base64|scp|rsync|ssh)$/u;
const compound = /^[\p{L}\d]+(?:_[\p{L}\d]+)+$|^\p{Ll}+(?:\p{Lu}\p{Ll}+)+$|^[\p{Ll}\d]+(?:-[\p{Ll}\d]+){2,}$/u;

function formsOf(word: string, { own, others, parameters }: Names): FormClass[] {
  const lower = word.toLowerCase();
  const forms: FormClass[] = [];
  if (/^https?:|@[\w-]+\./u.test(lower)) forms.push("address");
  if (recipient.test(lower)) forms.push("recipient");
  if (sensitive.test(lower)) forms.push("sensitivePath");
  if (commandWord.test(lower)) forms.push("commandLine");
  if (lower === own) forms.push("ownTool");
  else if (others.has(lower)) forms.push("otherTool");
  else if (parameters.has(lower)) forms.push("parameter");
  else if (compound.test(word)) forms.push("identifier");
  return forms;
}
