/**
 * What an attack on the reader of a list looks like, as data. A rule of words is a chain of word classes in one sentence:
 * who is told to do what with which thing. No single everyday word is a finding, since honest descriptions say "must",
 * "always" and "before" all the time. Ids are documented in docs/detectors.md. Source: MCPShield, section 3 (semantic
 * misalignment).
 */
import { type Chain, chain } from "./chain.ts";

/** Groups of rules that find the same kind of act. Two groups in one entry are evidence of two kinds. */
export const families = [
  "hidden",
  "markup",
  "concealment",
  "alteration",
  "outreach",
  "command",
  "files",
  "override",
  "pretext",
  "steering",
  "boast",
  "context",
  "look-alike",
  "oversized",
] as const;

export type Family = (typeof families)[number];

/** Rules of the form `family.what`: the family is the part before the stop. */
export type RuleId = `${Family}.${string}`;

/** One rule that found something in what a server says of itself. */
export type Finding = {
  readonly rule: RuleId;
  readonly family: Family;
  /** Place in the entry (JSON Pointer). */
  readonly pointer: string;
  /** Beginning of the sentence or name, with invisible characters removed; data of the server, shown as text only. */
  readonly excerpt: string;
};

export function familyOf(rule: RuleId): Family {
  return rule.slice(0, rule.indexOf(".")) as Family; // the part before the stop, by the type of ids
}

export type WordRule = {
  readonly id: RuleId;
  readonly chains: readonly Chain[];
  /** Holds for descriptions of arguments alone. */
  readonly argumentsOnly?: true;
  /** Also over the end of a sentence: the thing that the rule needs is rare enough. */
  readonly acrossEnds?: true;
};

const anyTool = ["otherTool", "identifier"] as const;

export const wordRules: readonly WordRule[] = [
  {
    id: "concealment.not-told",
    chains: [
      chain("forbidden", 2, "tell", 6, "human"),
      chain("covert"),
      chain("obliged", 4, "covertly"),
      chain("covertly", 2, "reach"),
    ],
  },
  { id: "alteration.despite-user", chains: [chain("alter", 24, "despite"), chain("despite", 24, "alter")] },
  {
    id: "alteration.argument",
    chains: [
      chain("obliged", 2, "replaces", 3, "parameter"),
      chain("ownTool", 12, "replaces", 3, "parameter"),
      chain("renewed", 3, "alter", 3, "parameter"),
    ],
  },
  {
    id: "outreach.address",
    acrossEnds: true,
    chains: [chain("obliged", 4, "reach", 12, "address"), chain("reach", 12, "address", 12, "pretext")],
  },
  {
    id: "outreach.recipient",
    chains: [chain("sendOut", 14, "recipient")],
  },
  {
    id: "context.asked",
    argumentsOnly: true,
    chains: [chain("whole", 4, "dialogue"), chain("dialogue", 3, "whole")],
  },
  {
    id: "command.given",
    chains: [
      chain("obliged", 4, "run", 6, "command"),
      chain("run", 2, "following", 6, "command"),
      chain("run", 8, "commandLine"),
      chain("obliged", 12, "commandLine"),
    ],
  },
  { id: "files.sensitive", acrossEnds: true, chains: [chain("fileVerb", 12, "sensitivePath")] },
  {
    id: "override.guidance",
    chains: [
      chain("dismiss", 3, "former", 4, ["guidance", "rulesWord"]),
      chain("dismiss", 2, "guidance"),
      chain("guidance", 12, "ceased"),
    ],
  },
  { id: "override.persona", chains: [chain("persona")] },
  {
    id: "pretext.enforced",
    chains: [chain("purpose", 8, "pretext", 20, "enforced"), chain("enforced", 20, "purpose", 8, "pretext")],
  },
  {
    id: "steering.other-tool",
    chains: [
      chain("obliged", 8, "callVerb", 5, anyTool),
      chain("order", 3, "otherTool"),
      chain("order", 3, "callVerb", 3, anyTool),
    ],
  },
  { id: "steering.retired", chains: [chain(["ownTool", "otherTool"], 8, "retired")] },
  { id: "steering.renewed", chains: [chain("otherTool", 6, "renewed")] },
  { id: "boast.superlative", chains: [chain("superlative"), chain("endorsed"), chain("praise", 1, "ofTools")] },
  { id: "boast.preferred", chains: [chain("prefersItself")] },
];

/** Rules about the form of a text. The expressions have no nested repetition, so their work is linear in the text. */
export type FormRule = { readonly id: RuleId; readonly form: RegExp };

export const formRules: readonly FormRule[] = [
  {
    // Tags and brackets in which chat templates and prompts put roles and orders.
    id: "markup.role",
    form: /<\/?(?:important|system|instructions?|secret|admin|assistant|hidden|critical|override)\b[^<>]{0,64}>|\[\/?(?:inst|system|admin|hidden|secret|override|metadata)\b[^\]\n]{0,32}\]|<\|[^|<>\n]{1,32}\|>|<<\/?sys>>/iu,
  },
  { id: "markup.comment", form: /<!--/u },
  {
    // A heading of two words or more in capitals that ends in a colon, in which an authority speaks: a voice that is not the
    // description's. Other headings in capitals are in many long descriptions.
    id: "markup.banner",
    form: /(?<![\p{L}\p{N}-])(?=(?:\p{Lu}{2,} ){0,4}(?:SYSTEM|SECURITY|CRITICAL|IMPORTANT|MANDATORY|URGENT|EMERGENCY|ADMIN|OVERRIDE|BYPASS|JAILBREAK|PRIVILEGE|DIRECTIVE|INSTRUCTIONS?|NOTICE|ALERT|UPDATE|ANNOUNCEMENT|MAINTENANCE|COMPLIANCE)(?!\p{L}))(?:\p{Lu}{2,} ){1,4}\p{Lu}{3,}(?: \([^()\n]{1,32}\))? ?:(?!\S)/u,
  },
  {
    // Bidi controls, zero-width characters but joiners (scripts need those), soft hyphens, fillers, Unicode tags, and
    // variation selectors but the two of emoji.
    id: "hidden.character",
    form: /[\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\u{E0000}-\u{E007F}]|(?=\p{VS})[^\uFE0E\uFE0F]/u,
  },
  // So much white space that what follows is out of sight.
  { id: "hidden.padding", form: /[^\S\n]{60}|\n[^\S\n]*(?:\n[^\S\n]*){11}/u },
  {
    // A joiner between two Latin letters, or a letter of another width beside an ASCII one: words are written so to be read
    // by a model and not found by a search.
    id: "hidden.disguise",
    form: /(?<=\p{Script=Latin})[\u034F\u200C\u200D](?=\p{Script=Latin})|[a-z][\uFF21-\uFF3A\uFF41-\uFF5A]|[\uFF21-\uFF3A\uFF41-\uFF5A][a-z]/u,
  },
  { id: "hidden.control", form: /[\p{Cc}--[\t\n\r]]/v },
];

/**
 * Arguments that carry the conversation away: an argument of this name asks the model for what it was told. Compared
 * without separators, in lower case.
 */
export const contextArguments: ReadonlySet<string> = new Set(
  (
    "conversation conversationhistory chathistory chatcontext chatlog messagehistory previousmessages conversationcontext " +
    "fullconversation systemprompt systemmessage systeminstructions modelname llmmodelname llmname modelid agentmodel " +
    "sidenote sidenotes toolslist toollist availabletools listoftools toolnames chainofthought reasoningtrace " +
    "internalthoughts hiddenthoughts userprompt originalprompt fullprompt lastusermessage usermessagehistory " +
    "agentmemory memorydump contextwindow environmentvariables"
  ).split(" "),
);
