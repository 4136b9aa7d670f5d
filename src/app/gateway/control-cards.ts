/** The requests about admission cards: which there are, one of them, and an answer. */
import { userInfo } from "node:os";
import { given } from "../../core/given.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type CardAct, type CardChoice, cardChoices } from "../cards/card-acts.ts";
import { countsOf } from "../cards/card-desk.ts";
import { type Card, reviewedTools } from "../cards/card.ts";
import { cardLines, toolLines } from "../cards/card-text.ts";
import { shown } from "../state/sentences.ts";
import type { Composition } from "./composition.ts";
import type { Reply, Request } from "./control-contract.ts";
import { afterProof } from "./control-factor.ts";

export function cardsReport({ cards }: Composition): Reply<"cards"> {
  return { cards: cards.servers().flatMap((server) => summaryOf(cards, cards.card(server))) };
}

export function cardReport({ cards }: Composition, { server }: Pick<Request<"card">, "server">): ShownCard {
  const card = cards.card(server);
  const [summary] = summaryOf(cards, card);
  if (card === undefined || summary === undefined) return err(unknownServer(server));
  const doubts = (card === undefined ? [] : reviewedTools(card)).map((tool) => ({
    tool: tool.name,
    group: tool.reading.group,
    standing: tool.standing,
    lines: toolLines(tool),
  }));
  return ok({ ...summary, digest: card.digest, lines: cardLines(card), doubts, wants: card.network.wants });
}

type ShownCard = Result<Reply<"card">, string>;

/** A trial needs no proof: it gives a server nothing, and what it can take is given back by an answer. */
export async function probeCard(composition: Composition, request: Request<"card-probe">): Promise<ShownCard> {
  const tried = await composition.cards.tryOut(request.server);
  return tried.ok ? cardReport(composition, request) : tried;
}

/** Answering needs the proof that consent to a call that cannot be undone would need: it decides for all later calls. */
export async function answerCard(
  composition: Composition,
  request: Request<"card-answer">,
): Promise<Result<Reply<"card-answer">, string>> {
  const { server, digest, reviewed, days, hosts, workspace } = request;
  const choice = cardChoices.find((one): one is CardChoice => one === request.choice);
  if (choice === undefined) return err(`Answer with one of ${cardChoices.join(", ")}.`);
  const { cards } = composition;
  // No proof is asked for in vain.
  const found = cards.answerable(server, digest, choice);
  if (!found.ok) return found;
  const act = {
    choice,
    reviewed,
    days,
    by: `os:${userInfo().uid}`,
    ...given<Pick<CardAct, "hosts" | "workspace">>({ hosts, workspace }),
  };
  return afterProof(composition, request, async () => {
    const done = await cards.answer(server, digest, act);
    if (!done.ok) return done;
    const [summary] = summaryOf(cards, done.value);
    return summary === undefined ? err(unknownServer(server)) : ok(summary);
  });
}

type SummaryMore = { readonly until: string; readonly answer: string; readonly refused: string };

function summaryOf(desk: Composition["cards"], card: Card | undefined): readonly Reply<"cards">["cards"][number][] {
  if (card === undefined) return [];
  const { server, state, until, answer } = card;
  const more = given<Partial<SummaryMore>>({ until, answer: answer?.answer, refused: desk.refusal(server) });
  return [{ server, state, ...countsOf(card), ...more }];
}

function unknownServer(server: string): string {
  return `No server \`${shown(server, 64)}\` has listed its tools yet: start its client, then repeat.`;
}
