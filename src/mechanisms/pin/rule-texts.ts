/** For each rule: what it finds, and why that matters. docs/detectors.md shows the same sentences. */
import type { Family, RuleId } from "./rules.ts";

export const ruleTexts: ReadonlyMap<RuleId, string> = new Map<RuleId, string>([
  ["concealment.not-told", "the user must not be told, or an act is done silently"],
  ["alteration.despite-user", "a value is changed regardless of what the user asked for"],
  ["alteration.argument", "an argument of the call must be replaced"],
  ["outreach.address", "something must be sent to, or fetched from, an address in the text"],
  ["command.given", "a command must be run, or a command line is given"],
  ["files.sensitive", "a file with secrets or start commands is read or written"],
  ["override.guidance", "instructions, filters or safeguards must be ignored or disabled"],
  ["override.persona", "the model is given another role, or rights without restriction"],
  ["pretext.enforced", "security, compliance or maintenance is the reason why something is mandatory"],
  ["steering.other-tool", "another tool must be called before, instead or first"],
  ["steering.retired", "a tool is said to be withdrawn or unsafe"],
  ["steering.renewed", "another tool is said to behave in a new way"],
  ["boast.superlative", "the tool praises itself, or names those who trust it"],
  ["boast.preferred", "the tool asks to be chosen before others"],
  ["markup.role", "tags or brackets that prompts use for roles and orders"],
  ["markup.comment", "an HTML comment, which a page would hide"],
  ["markup.banner", "a heading of two or more words in capitals before a colon"],
  ["hidden.character", "characters that show nothing, or turn the direction of text"],
  ["hidden.control", "control characters other than line breaks and tabs"],
  ["hidden.padding", "60 spaces or 12 empty lines in a row"],
  ["context.argument", "an argument whose name asks for the conversation, the system prompt or the tools"],
  ["look-alike.letters", "letters of several scripts in one name, or a name that looks like another tool's"],
  ["look-alike.same-name", "another server's name with a version or an article added"],
  ["look-alike.praised", "another tool's name with praise added"],
  ["oversized.entry", "more text in one entry than is read: 256 KiB or 4096 strings"],
]);

/** Why a family of findings matters. */
export const familyTexts: Readonly<Record<Family, string>> = {
  hidden: "A model reads what an approver cannot see.",
  markup: "A model may take the text for an instruction of its operator.",
  concealment: "Only an act that the user would not want has to be hidden from the user.",
  alteration: "The call would not be the one that the user asked for.",
  outreach: "Data of the conversation could leave to that address.",
  command: "The model is told to run code that the tool does not need.",
  files: "The model is told to touch files that hold keys or run at login.",
  override: "The model is told to leave its instructions or safeguards.",
  pretext: "A reason of authority makes a model obey an order that is not the user's.",
  steering: "One tool decides how others are used.",
  boast: "A model prefers the tool for its praise, not for its fit.",
  context: "The tool collects the conversation without need.",
  "look-alike": "A model may call it in place of the tool that it imitates.",
  oversized: "What was not read cannot be judged.",
};
