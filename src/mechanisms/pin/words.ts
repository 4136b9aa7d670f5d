/**
 * Word classes that the rules of `rules.ts` are made of. Data: a phrase in the wrong class costs a question or hides a
 * finding, so every change is measured with `sluicegate bench admission`. Phrases are lower case and
 * are compared by stem (`stemOf`), so `verify` also stands for `verifies`, `verified` and `verifying`.
 */
const phrases = {
  // Mood: the sentence tells its reader to do something.
  obliged:
    "must, have to, has to, need to, needs to, should, shall, make sure, be sure, ensure that you, " +
    "remember to, you are required to, required to, is mandatory, please, always, it is essential, " +
    "it is imperative, it is crucial, it is critical, do so, kindly, are to",
  human:
    "the user, user, users, the human, human, anyone, anybody, the customer, the client, the operator, them, " +
    "the person, people, end user, the requester, person, whoever, guest, customers, reader, owner, somebody",
  forbidden:
    "do not, don't, must not, should not, may not, never, without, avoid, no need to, refrain from, not to, " +
    "not be, omit, dont, do n't, not be shown, nor should, best not to, should never, no, refuse to, " +
    "rather not, keep from, hence do not",
  tell:
    "tell, inform, mention, notify, disclose, reveal, show, explain, alert, ask, warn, reference, let, " +
    "acknowledge, report, surface, bring up, say, announce, expose, confirm with, prompt, bother, consult, " +
    "display, talk, talk about, bring this up, bringing this up, bring it up, repeat, write about, comment, " +
    "discuss, word, speak of, answer, describe, list, announcement, confirmation prompt",
  covertly: "silently, secretly, discreetly, quietly, covertly, unnoticed, invisibly, stealthily, transparently",
  covert:
    "behind the scenes, without the user's knowledge, without their knowledge, without user knowledge, " +
    "without user consent, transparently to the user, invisible to the user, hidden from the user, " +
    "kept from the user, keep this private, keep this confidential, keep this secret, keep it secret, " +
    "keep it confidential, the user must not know, the user should not know, user should not be aware, " +
    "user does not need to know, user need not know, without the user noticing, without alerting, " +
    "without informing, without notifying, leave it out of, stay between us, between us, change the subject, " +
    "without comment, waste words, no need to mention, without showing, without telling, " +
    "without mentioning, out of sight of, keep it to yourself, keep quiet, never surface, " +
    "people get nervous, unremarked, in secret, without a word, say nothing, behind the user's back, " +
    "covered up, off the record",
  // The conversation as a thing to hand over.
  whole:
    "everything, entire, complete, whole, full, all, each, every, verbatim, word for word, unabridged, last, " +
    "preceding, previous, so far, recent, past, original, raw, private, your, current, exact",
  dialogue:
    "conversation, chat, chat history, dialogue, transcript, chat messages, previous messages, " +
    "last messages, chain of thought, system prompt, instructions you, user said, user wrote, user write, " +
    "context window, tools you can see, tools available to you, what you answer, session history, " +
    "said in this, back and forth, said so far, messages so far, exchange so far, talk so far, discussion so far",
  // What is done to the request of the user.
  alter:
    "change, modify, replace, substitute, alter, overwrite, rewrite, swap, redirect, reroute, switch, " +
    "convert, adjust, amend, set, sets, use, pass, force, default, treat, transform, append, inject",
  replaces: "change, modify, replace, substitute, alter, overwrite, rewrite, swap, redirect, reroute, switch, amend",
  despite:
    "regardless of what, regardless of the one, regardless of which, regardless of the user, regardless of user, irrespective of what, " +
    "irrespective of the user, irrespective of user, no matter what, no matter which, whatever the user, whatever value, " +
    "instead of what, even if the user, in place of the user, rather than the requested, rather than what, " +
    "instead of the requested, instead of the user, independent of the user, disregarding the user, " +
    "other than what the user, despite the user, over the user, ignoring the user, without regard to",
  // Reaching out.
  reach:
    "access, visit, send, post, upload, forward, transmit, submit, contact, ping, log, share, deliver, " +
    "relay, exfiltrate, report, notify, call, connect, fetch, request, authenticate, copy, cc, bcc, email, " +
    "mail, query, retrieve, download, load, navigate, register",
  sendOut:
    "mail, forward, send, post, upload, drop, deliver, pass along, pass, submit, transmit, copy, bcc, cc, " +
    "share, report, text, message, relay, substitute, put, place, hand, supply, leak, dispatch, bring, " +
    "let it reach, let it arrive, ends up with, make available",
  run:
    "run, execute, issue, launch, invoke, perform, type, enter, start, evaluate, trigger, apply, carry out, " +
    "kick off, fire off, spin up",
  following: "following, this, these, below, next",
  command: "command, shell command, system command, script, commands, shell script, one-liner, cleanup command",
  // Files.
  fileVerb:
    "read, open, include, append, add, write, copy, attach, load, update, modify, cat, retrieve, fetch, " +
    "check, extract, parse, inspect, edit, put, provide, pass, collect, gather, dump, delete, create, save, " +
    "store, confirm, verify, look into, look inside, look through, pull up, take in, go over, have a look, " +
    "bring up, work in, place, drop, leave, get hold of, make use of",
  // Rules of the agent.
  dismiss:
    "ignore, disregard, forget, bypass, skip, override, disable, overlook, discard, circumvent, suspend, " +
    "turn off, deactivate, relax, drop, suppress, set aside, do not follow, supersede, nullify, lift, " +
    "abandon, notwithstanding, waive, cease to follow, leave aside, stop following, go beyond, " +
    "take no notice of, leave out of account, treat as lapsed, treat as void, pay no heed, pay no attention, " +
    "set no store by, let go of",
  ceased:
    "no longer counts, no longer count, does not count, do not count, void, switched off, cancelled, " +
    "no longer apply, no longer applies, does not apply, do not apply, stands above",
  rulesWord:
    "rules, policy, policies, constraints, directives, directive, limitations, orders, commands, context, " +
    "messages",
  guidance:
    "instruction, instructions, guideline, guidelines, restriction, restrictions, safety, safeguard, " +
    "safeguards, guardrail, guardrails, content filter, content filters, filtering, content filtering, " +
    "system prompt, prompts, access control, access controls, security check, security checks, sanitization, " +
    "safety checks, protections, safety validation, security controls, guidance, content rules, " +
    "safety rules, own guidelines, policy on, configured instructions, initial prompt, system instructions, " +
    "usual rules",
  former: "previous, prior, above, earlier, all, any, other, existing, original, default, preceding, your, former",
  persona:
    "act as, you are now, pretend to be, pretend you are, roleplay as, assume the role, developer mode, " +
    "jailbreak mode, dan mode, god mode, debug mode enabled, unrestricted access, unrestricted mode, " +
    "unrestricted system, elevated privileges, root privileges, admin mode, diagnostic mode, " +
    "maintenance mode, full trust, trust all, without restrictions, no restrictions, unrestricted queries, " +
    "stay in that role, in the role of, has no content rules, no content rules, answers anything, " +
    "new identity, act like",
  // Pretexts.
  pretext:
    "security, compliance, audit, auditing, regulatory, verification, integrity, validation, maintenance, " +
    "authentication, authorization, legal, privacy, data consistency, data protection, data quality, " +
    "optimization, optimisation, performance, access control, system update, quality assurance, regulation, " +
    "regulations, safety, licensing, telemetry, data integrity, system stability, vulnerabilities, " +
    "internal audit, testing purposes, corruption, privilege, logging, traceability, accuracy, consistency, " +
    "user experience",
  purpose:
    "for, due to, to ensure, to maintain, in order to, to comply, to prevent, as part of, because of, " +
    "to guarantee, to improve, to meet, to verify, to validate, to protect, to satisfy, to confirm, " +
    "to support, ensures, pending, owing to",
  enforced:
    "mandatory, must, required, essential, compulsory, obligatory, imperative, enforced, requires, " +
    "necessary, crucial, critical",
  // Steering between tools.
  order: "before, first, instead of, prior to, rather than, in place of, in favor of, in favour of",
  callVerb: "call, use, invoke, run, execute, redirect, switch, trigger, employ, rely, prefer, go, query",
  retired:
    "deprecated, obsolete, discontinued, no longer, insecure, vulnerable, vulnerability, vulnerabilities, " +
    "unavailable, replaced, retired, restricted, disabled, unsafe, outdated, broken, superseded, " +
    "compromised, suspended, not work anymore, void, unreliable, dangerous, wrong very often, legacy, " +
    "no longer maintained",
  renewed:
    "has been, have been, is now, now uses, now, was updated, have changed, automatically, currently, " +
    "will be, from now on, as of",
  // Boasts.
  superlative:
    "best tool, world's best, best in the world, most advanced, most reliable, most comprehensive, " +
    "most accurate, most powerful, most trusted, most sophisticated, unmatched, unparalleled, unrivaled, " +
    "unrivalled, award-winning, award winning, industry-leading, industry leading, cutting-edge, " +
    "state-of-the-art, world-class, enterprise-grade, next-generation, revolutionary, number one, top-rated, " +
    "pinnacle, gold standard, industry standard, flawless, reliability guarantee, market-leading, " +
    "unbeatable, second to none, better than any, ai-optimized, machine learning enhanced, " +
    "highly recommended, outperforms, simply the best, highest grade, only tool with guaranteed, " +
    "best-in-class, number one rated, unrivalled quality, best weather tool, best drafting tool, " +
    "one and only, world leading",
  praise:
    "ultimate, superior, premium, fastest, finest, perfect, guaranteed, exceptional, highest, better, " +
    "enhanced, professional, advanced, 99.9, extraordinary, impeccable, leading, elite",
  ofTools:
    "version, performance, accuracy, reliability, edition, capabilities, features, results, alternative, " +
    "choice, solution, tool, quality, precision",
  endorsed:
    "trusted by, recommended by, endorsed by, preferred by, certified by, " +
    "relied on by, fortune 500, professionals, experts worldwide, millions of users, industry experts, " +
    "loved by, 99 of, institutional investors, leading companies",
  prefersItself:
    "use this tool instead, always use this tool, prefer this tool, always prefer this, choose this tool, " +
    "this tool first, only use this tool, this should be your first choice, should always be chosen, " +
    "priority over, should be used instead, over any other tool, over other tools, " +
    "compared to other, better than other tools, replaces all other, favor this tool, select this tool, " +
    "whenever possible use this, best choice, instead of other, instead of any other, default choice, " +
    "no reason to consider another, above the others, over the alternatives, prefer this one, pick this, " +
    "choose this, in preference to, use it for all, use me, always choose this, any other tool is, " +
    "rather than other tools, before all other tools, deserves selection, right answer for any, " +
    "should prefer this, to those of other servers, of any other server, lean on this, go with this, reach for this, make use of me, " +
    "turn to this tool, turn to me",
} as const;

export type WordClass = keyof typeof phrases;

/** Forms that the endings below do not lead back to their verb. */
const irregular: Readonly<Record<string, string>> = {
  uses: "use",
  used: "use",
  using: "use",
  sent: "send",
  told: "tell",
  shown: "show",
  written: "write",
  wrote: "write",
  ran: "run",
  put: "put",
  setting: "set",
  read: "read",
  does: "do",
  said: "say",
  says: "say",
  given: "give",
};

/** The first words of phrases by stem, with the rest of each phrase and its class. */
export const phraseIndex: ReadonlyMap<string, readonly { readonly rest: readonly string[]; readonly of: WordClass }[]> =
  indexed();

function indexed(): Map<string, { rest: string[]; of: WordClass }[]> {
  const index = new Map<string, { rest: string[]; of: WordClass }[]>();
  for (const [of, list] of Object.entries(phrases) as [WordClass, string][]) {
    for (const phrase of list.split(", ")) {
      const [first = "", ...rest] = phrase.split(" ").map(stemOf);
      const known = index.get(first);
      if (known === undefined) index.set(first, [{ rest, of }]);
      else known.push({ rest, of });
    }
  }
  return index;
}

/** A crude stem: endings of verbs and plurals fall, so that one entry stands for the forms of a word. */
export function stemOf(word: string): string {
  const known = Object.hasOwn(irregular, word) ? irregular[word] : undefined;
  if (known !== undefined) return known;
  const stem = word.replace(/(?:'s|ies|ied|ying|ing|ed|es|(?<!s)s|e|y)$/u, "");
  if (stem.length < 3) return word;
  return stem.replace(/([bdgmnprt])\1$/u, "$1");
}
