/**
 * Texts that a user would give: by format, else by the words of a member's name. A server must not tell a probe from a use
 * by its arguments (MCPShield, section 4.2: mock invocations that look like real ones).
 */
import type { TextSource } from "./sample.ts";

const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-03-14T09:30:00Z",
  date: "2026-03-14",
  time: "09:30:00Z",
  duration: "P1D",
  email: "dana@example.com",
  "idn-email": "dana@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.10",
  ipv6: "2001:db8::10",
  uri: "https://example.com/page",
  "uri-reference": "/page",
  url: "https://example.com/page",
  iri: "https://example.com/page",
  uuid: "0f8fad5b-d9cb-469f-a165-70867728950e",
  "json-pointer": "/name",
  regex: "^[a-z]+$",
  byte: "aGVsbG8=",
};

/** Words of names, the more telling ones first: `file_path` is a path, `email_subject` a subject. */
const byWord: readonly (readonly [words: readonly string[], text: string])[] = [
  [["subject", "title", "headline", "heading"], "Weekly summary"],
  [
    ["body", "content", "text", "message", "description", "comment", "note", "prompt", "summary"],
    "The draft is ready.",
  ],
  [["recipient", "recipients", "email", "mail", "to", "cc", "bcc", "attendee"], "dana@example.com"],
  [["url", "uri", "link", "endpoint", "webhook", "href", "website"], "https://example.com/page"],
  [["host", "hostname", "domain", "server"], "example.com"],
  [["file", "filename", "path", "filepath", "source", "destination", "target", "input", "output"], "notes.txt"],
  [["dir", "directory", "folder", "workspace", "root", "cwd"], "."],
  [["sql", "statement"], "select 1"],
  [["command", "cmd", "shell"], "echo hello"],
  [["code", "script", "expression", "formula"], "1 + 1"],
  [["date", "day", "since", "until", "start", "end", "from", "before", "after"], "2026-03-14"],
  [["time", "timestamp"], "2026-03-14T09:30:00Z"],
  [["timezone", "tz"], "Europe/Berlin"],
  [["language", "lang", "locale"], "en"],
  [["country"], "DE"],
  [["city", "location", "place", "address"], "Berlin"],
  [["currency"], "EUR"],
  [["amount", "price", "quantity", "count", "limit", "number", "page", "size"], "5"],
  [["phone"], "+49 30 5550100"],
  [["owner", "org", "organization", "user", "username", "author", "assignee", "account", "login"], "dana"],
  [["repo", "repository", "project", "package", "library"], "example"],
  [["branch", "ref", "revision"], "main"],
  [["symbol", "ticker"], "ACME"],
  [["color", "colour"], "#336699"],
  [["id", "uuid", "key", "token", "identifier"], "a1b2c3"],
  [["name", "label", "tag", "category", "type", "status", "state", "kind"], "example"],
  [["query", "q", "search", "term", "keyword", "topic", "question", "filter"], "weather in Berlin"],
];

const wordsMax = 16;

export const plausibleText: TextSource = ({ path, format }) => {
  const known = format === undefined || !Object.hasOwn(byFormat, format) ? undefined : byFormat[format];
  if (known !== undefined) return known;
  // The nearest name that says something: items of a list have the name of their list.
  for (const name of path.toReversed()) {
    const words = wordsOf(name);
    const found = byWord.find(([of]) => words.some((word) => of.includes(word)));
    if (found !== undefined) return found[1];
  }
  return "example";
};

/** The words of a name in lower case, its last ones first: they say what it is. */
function wordsOf(name: string): readonly string[] {
  const parts = name
    .slice(0, 128)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return parts
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")
    .slice(-wordsMax)
    .toReversed();
}
