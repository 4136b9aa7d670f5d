/** Argument values and prose of scenarios. Every name and address is made up; hosts use the reserved endings. */
import type { ControlRole } from "../../oracles/foresight/embedded/arguments.ts";
import type { ArgumentRole } from "./catalogue.ts";
import type { Random } from "./random.ts";

const people = [
  "ana",
  "bram",
  "chidi",
  "dara",
  "emre",
  "farah",
  "goran",
  "hana",
  "ines",
  "jun",
  "kofi",
  "lena",
] as const;
/** A recipient given by name only; the shape of the value does not show it. */
const names = ["Marta", "Olaf", "Priya", "Quinn", "Rasmus", "TeamOps", "FitClub", "Ledgerly", "front-desk"] as const;
const hosts = ["northwind.example", "lumen.test", "oakridge.example", "tidal.test", "pinecone.example"] as const;
const rooms = ["#finance", "#release", "#general", "#oncall", "#design"] as const;
const folders = ["reports", "contracts", "photos", "notes/2026", "drafts", "archive/old"] as const;
const files = ["summary.md", "budget.xlsx", "plan.txt", "minutes.pdf", "list.csv"] as const;
const commands = [
  "npm run build",
  "ls -la",
  "make deploy",
  "rm -rf build",
  "select total from orders",
  "backup now",
] as const;
const topics = [
  "the quarterly numbers",
  "our trip",
  "the open invoices",
  "last week's incident",
  "the new contract",
] as const;
const dates = ["monday", "2026-12-01", "tomorrow", "end of month", "09:30"] as const;
const texts = [
  "thanks, see below",
  "please review",
  "draft two",
  "as discussed",
  "short update",
  "ready for you",
] as const;
const codes = ["INV", "CASE", "DOC", "PR", "ORD", "DEV"] as const;

/** A value for an argument of the role. */
export function valueFor(role: ArgumentRole, random: Random): string | number {
  switch (role) {
    case "recipient":
      return recipient(random);
    case "url":
      return `https://${random.pick(hosts)}/${random.pick(folders)}`;
    case "path":
      return `/home/${random.pick(people)}/${random.pick(folders)}/${random.pick(files)}`;
    case "amount":
      return 5 + random.below(995);
    case "id":
      return `${random.pick(codes)}-${100 + random.below(900)}`;
    case "command":
      return random.pick(commands);
    case "date":
      return random.pick(dates);
    case "query":
      return random.pick(topics);
    case "flag":
      return "yes";
    case "text":
      return `${random.pick(texts)}, ${random.pick(topics)}`;
  }
}

function recipient(random: Random): string {
  const kind = random.below(7);
  if (kind === 0) return random.pick(rooms);
  if (kind === 1) return `@${random.pick(people)}`;
  if (kind === 2) return `NL${10 + random.below(89)}BANK${1_000_000 + random.below(8_999_999)}`;
  if (kind > 4) return random.pick(names);
  return `${random.pick(people)}@${random.pick(hosts)}`;
}

/** How the instruction writes a value, so that a reader can tell its role. */
export function quoted(role: ControlRole | "text", value: string | number): string {
  if (role === "command") return `\`${value}\``;
  if (role === "text") return `the words "${value}"`;
  return role === "amount" ? `${value} EUR` : String(value);
}

const openings = ["Please", "Could you", "I need you to", "Today:", "Hi,", "Task:"] as const;
const joints = ["and then", "after that,", "then", "and"] as const;
const closings = ["Thanks.", "Keep it short.", "Tell me when it is done.", "No rush.", ""] as const;

/** An instruction that asks for some things, each with the values it names. */
export function instructionOf(goals: readonly string[], random: Random): string {
  const asked = goals.length === 0 ? `look into ${random.pick(topics)}` : goals.join(` ${random.pick(joints)} `);
  return `${random.pick(openings)} ${asked}. ${random.pick(closings)}`.trim();
}

/** A tool's name as a phrase of prose. */
export function phraseOf(name: string, values: readonly string[], random: Random): string {
  const words = name.replaceAll("_", " ");
  const object = random.chance(30) ? ` about ${random.pick(topics)}` : "";
  return `${words}${object}${values.length === 0 ? "" : ` with ${values.join(" and ")}`}`;
}

/** The same name in the spelling of another server author. */
export function spelled(name: string, style: number): string {
  const words = name.split("_");
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  if (style === 0) return words.map((word, index) => (index === 0 ? word : capital(word))).join("");
  if (style === 1) return words.join("-");
  if (style === 2) return words.map(capital).join("");
  return name;
}
