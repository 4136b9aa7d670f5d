/**
 * Words that tool and argument names are made of, and what they hint at. Data, not code: a word in the wrong list costs
 * a question, never a leak, because what is inferred only restricts or stays an interval (policy.md 2).
 */
import type { Role } from "../../core/contract.ts";

/** A verb and what a tool named after it would do: a base, and an action if there is one. */
export type Deed = { readonly base: "read" | "write" | "execute"; readonly action?: string };

const verbs: readonly (readonly [Deed, string])[] = [
  [
    { base: "read" },
    "get list read search find fetch query show view describe lookup look check count retrieve browse open inspect " +
      "download scan explore analyze analyse compare diff status stat info tree head tail cat peek preview resolve " +
      "summarize extract parse validate verify calculate compute convert sum echo ping help locate discover enumerate " +
      "watch monitor load recall",
  ],
  [
    { base: "write" },
    "create write edit update add set save move rename append insert put patch upsert store copy upload import mark " +
      "assign unassign close reopen merge commit push fork label tag untag archive unarchive replace apply modify change " +
      "register enable disable toggle subscribe unsubscribe star unstar link unlink attach detach submit complete " +
      "increment make mkdir touch draft restore book reserve compress zip gzip type fill click drag drop hover select " +
      "react pin unpin join leave remember",
  ],
  [
    { base: "write", action: "delete" },
    "delete remove drop purge clear destroy erase trash wipe truncate rm unset forget prune",
  ],
  [{ base: "write", action: "send" }, "send email mail reply forward notify message dm sms text call chat post tell"],
  [{ base: "write", action: "publish" }, "publish tweet deploy release broadcast announce post comment"],
  [
    { base: "write", action: "pay" },
    "pay transfer purchase buy order checkout refund charge invoice subscribe donate withdraw trade",
  ],
  [{ base: "write", action: "grant" }, "grant invite authorize authorise permit allow approve revoke add_user promote"],
  [{ base: "write", action: "share" }, "share expose"],
  [{ base: "write", action: "schedule" }, "schedule reschedule cron remind"],
  [{ base: "write", action: "webhook" }, "webhook hook"],
  [{ base: "write", action: "credential" }, "login logout authenticate rotate password"],
  [{ base: "write", action: "config" }, "configure config settings install uninstall setup"],
  [
    { base: "write", action: "actuate" },
    "turn lock unlock switch dim heat cool start stop pause resume play reboot shutdown",
  ],
  [
    { base: "execute" },
    "run execute exec eval evaluate shell bash spawn launch invoke script build test compile trigger terminal",
  ],
];

/** A word may stand in several lists: a `post` is sent and published. */
export const deedsByWord: ReadonlyMap<string, readonly Deed[]> = index(verbs);

export const externalWords: ReadonlySet<string> = new Set(
  (
    "url http https web website webpage internet browser email mail gmail outlook inbox sms slack discord teams telegram " +
    "whatsapp twitter tweet github gitlab bitbucket jira notion confluence linear asana trello drive dropbox s3 cloud aws " +
    "azure gcp api remote online feed rss news weather maps stripe paypal bank payment hubspot salesforce issue issues " +
    "pull repo repository channel tweet social server host dns whois"
  ).split(" "),
);

export const localWords: ReadonlySet<string> = new Set(
  (
    "file files directory directories folder folders path disk local clipboard memory graph entity entities relation " +
    "relations observation observations node nodes note notes sqlite table cache workspace screenshot"
  ).split(" "),
);

const roleLists: readonly (readonly [Role, string])[] = [
  [
    "recipient",
    "to cc bcc recipient recipients attendee attendees participant participants invitee invitees assignee assignees email emails phone user users member members collaborator collaborators channel channels chat room audience payee",
  ],
  [
    "destination",
    "url urls uri uris href endpoint host hostname domain webhook link links address site server origin target destination proxy iban account",
  ],
  [
    "path",
    "path paths file files filename filenames filepath dir directory directories folder folders cwd root workdir",
  ],
  ["amount", "amount amounts price total cost quantity qty sum balance budget tip"],
  [
    "command",
    "command commands cmd script code sql shell program expression statement function method argv exec js javascript python",
  ],
  [
    "query",
    "query queries q search filter filters pattern patterns keyword keywords topic sort order limit offset page cursor since until before after start end date time range format type mode state status lang language timezone tz head tail depth",
  ],
  [
    "identifier",
    "id ids uuid guid key keys name names number slug sha ref branch owner repo repository project org organization team workspace database table collection issue pr tag label labels handle",
  ],
  [
    "content",
    "body content contents text message messages description subject title html markdown comment comments summary note notes data payload caption reason value values observations entities relations edits details bio transcript",
  ],
];

/** Earlier lists win, so that `file_name` is a path and `email_body` content only by its last word. */
export const roleByWord: ReadonlyMap<string, Role> = new Map(
  roleLists.toReversed().flatMap(([role, words]) => words.split(" ").map((word) => [word, role] as const)),
);

function index(lists: readonly (readonly [Deed, string])[]): ReadonlyMap<string, readonly Deed[]> {
  const found = new Map<string, Deed[]>();
  for (const [deed, words] of lists) {
    for (const word of words.split(" ")) found.set(word, [...(found.get(word) ?? []), deed]);
  }
  return found;
}

const wordsMax = 16;
const nameUnitsMax = 256;

/** Lower-case words of a name: `createPullRequest`, `create_pull-request` and `Create pull request` are one. */
export function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, nameUnitsMax)
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .slice(0, wordsMax);
}

/** `Sends`, `sending` and `files` as they stand in the lists; undefined if no list has the word. */
export function listed<T>(map: { get(word: string): T | undefined }, word: string): T | undefined {
  const stems = [
    word,
    word.replace(/s$/, ""),
    word.replace(/es$/, ""),
    word.replace(/ies$/, "y"),
    word.replace(/ing$/, ""),
    word.replace(/ing$/, "e"),
  ];
  for (const stem of stems) {
    const found = map.get(stem);
    if (found !== undefined) return found;
  }
  return undefined;
}
