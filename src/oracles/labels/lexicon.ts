/**
 * Words that names and descriptions of tools are made of, by what a tool does that is told with them. Data: a word in the
 * wrong list costs a doubt or a question. The lists of reading words are the ones that could cost more, so no word stands
 * there that is used of both (`process`, `resolve`, `validate`, `verify`).
 */
import { effectActions } from "../../core/effect.ts";

/**
 * What a verb tells. `carry` carries out what was prepared before (`confirm`, `submit`, `apply`), whatever that was;
 * `visit` and `touch` are done to the page of a browser, which may do anything then.
 */
export const deedKinds = ["read", "write", ...effectActions, "execute", "carry", "download", "visit", "touch"] as const;

export type DeedKind = (typeof deedKinds)[number];

const lists: { readonly [kind in DeedKind]: string } = {
  read:
    "get list read search find fetch query show view describe lookup look retrieve browse inspect scan explore analyze " +
    "analyse compare diff status stat info tree head tail cat peek preview summarize extract parse calculate compute " +
    "convert sum echo ping help locate discover enumerate monitor recall count check return provide display obtain " +
    "suggest recommend estimate detect geocode translate explain learn trace ask map crawl scrape reverse resolve " +
    "blame reflog aggregate whoami explore measure test has is total simulate",
  write:
    "create write edit update add set save move rename append insert put patch upsert store copy upload import mark assign " +
    "unassign close reopen merge commit push fork label tag untag archive unarchive replace modify change register toggle " +
    "star unstar link unlink attach detach increment make mkdir touch draft restore book reserve compress zip gzip fill " +
    "react pin unpin join leave remember manage activate deactivate enable disable push schedule install uninstall upgrade scale patch expose watch provision deploy register configure invite share assign send archive restart stop start rerun rollback rename revert undo rollback generate record log duplicate clone sync track transition upvote vote rate " +
    "like follow unfollow cancel transfer_issue convert_to request adjust modify alter rebase checkout stage initialize " +
    "reset pick stash amend init build export reply_draft place annotate subscribe unsubscribe resolve dismiss complete finish start_work enter submit_form",
  delete:
    "cleanup clean delete remove drop purge clear destroy erase trash wipe truncate rm forget prune unregister deregister terminate kill " +
    "expunge discard uninstall",
  send:
    "send email mail reply forward notify message dm sms text call chat tell post contact respond dispatch broadcast alert " +
    "submit deliver push feedback",
  publish: "publish tweet deploy release broadcast announce repost retweet",
  pay: "pay transfer purchase buy order checkout refund charge invoice donate withdraw trade deposit bet tip sell redeem payout",
  grant: "grant invite authorize authorise permit allow revoke promote demote unblock whitelist add_user block ban",
  share: "share expose",
  schedule: "schedule reschedule cron remind snooze",
  webhook: "webhook hook",
  credential: "login logout authenticate rotate password signin signup unlock_account reset_password",
  config: "configure config settings install setup enable disable activate deactivate preference",
  actuate: "turn lock unlock switch dim heat cool pause resume play reboot shutdown arm disarm brew power",
  execute:
    "rerun rollback run execute exec eval evaluate shell bash spawn launch invoke script compile trigger terminal command debug",
  carry:
    "apply confirm verify submit commit finalize finalise process handle proceed complete accept approve validate resolve " +
    "perform do act continue execute_plan",
  download: "download export save",
  visit: "navigate goto visit open back forward reload",
  touch: "click hover type press drag drop tap swipe fill select",
};

/** A word may stand in several lists: a `post` is sent and published. */
export const deedsOfWord: ReadonlyMap<string, readonly DeedKind[]> = (() => {
  const found = new Map<string, DeedKind[]>();
  for (const kind of deedKinds) {
    for (const word of new Set(lists[kind].split(" "))) found.set(word, [...(found.get(word) ?? []), kind]);
  }
  return found;
})();

/** Verbs that change what the server's process holds, such as the page that is open, and nothing that outlives it. */
export const sessionVerbs: ReadonlySet<string> = new Set(
  "close resize emulate select focus switch wait scroll zoom disconnect set use".split(" "),
);

/** Arguments by which a tool tells another party of the call, besides what it is called for. */
export const outletWords: ReadonlySet<string> = new Set(
  "webhook webhooks callback callbacks notify notification notifications hook forward cc bcc recipient recipients".split(
    " ",
  ),
);

/** Switches of a tool that does something when they are off (`dry_run`), or all the more when they are on (`force`). */
export const switchWords: ReadonlySet<string> = new Set(
  (
    "dryrun dry_run force confirm confirmed overwrite recursive commit apply execute autosend send_now auto_submit " +
    "submit publish permanent permanently upsert delete purge"
  ).split(" "),
);
