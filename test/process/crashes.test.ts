/**
 * The daemon is killed again and again while calls flow (gateway.md 6 and 9): what a client got an answer for is in the
 * log, the log verifies, labels and monitors are the same after the restart, what was in flight is unknown and asks
 * before it is done again, and the client sees refusals, never silence.
 */
import { afterAll, expect, test } from "vitest";
import { generator, seed } from "./fixture/chance.ts";
import { Desk, secret, textOf } from "./fixture/desk.ts";
import { type Client, pause, until } from "./fixture/world.ts";

const rounds = process.env["SLUICEGATE_FULL"] === "1" ? 100 : 20;
const callsMax = 40;
const desk = new Desk();
afterAll(() => desk.dispose());

type Sent = { readonly id: number; readonly text: string };

/** Sends writes until the round is over, and kills the daemon in their midst. */
async function traffic(client: Client, round: number, moment: number): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const daemon = desk.daemonPid() ?? 0;
  setTimeout(() => process.kill(daemon, "SIGKILL"), moment);
  for (let count = 0; count < callsMax; count += 1) {
    const text = `round-${round}-${count}.`;
    sent.push({ text, id: client.send("tools/call", { name: "write", arguments: { text } }) });
    await pause(4);
  }
  return sent;
}

/** Calls until the gateway is back; every answer until then is a refusal that says so. */
async function back(client: Client): Promise<void> {
  await until(() => desk.daemonPid() !== undefined);
  for (let tries = 0; tries < 400; tries += 1) {
    const answer = await client.call("backup", { arguments: {} });
    if (answer.result?.["isError"] !== true) return;
    expect(textOf(answer)).toMatch(/being restarted|is unknown/);
    await pause(25);
  }
  throw new Error(`the gateway did not come back: ${client.stderr}`);
}

test(
  `nothing acknowledged is lost in ${rounds} crashes of the daemon (SLUICEGATE_SEED=${seed})`,
  { timeout: rounds * 15_000 },
  async () => {
    const random = generator(seed);
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const what = `round ${round}, seed ${seed}`;
      const client = await desk.connect();
      if (round === 0) {
        expect(textOf(await client.call("remove", { arguments: { id: "7" } }))).toContain("must come first");
        expect(textOf(await client.call("read_private", { arguments: {} }))).toBe(secret);
      }
      const slow = { name: "slow", arguments: { text: `slow-${round}.` } };
      const open = client.send("tools/call", slow);
      await until(() => desk.executed().some((entry) => entry.arguments?.["text"] === `slow-${round}.`));
      const sent = await traffic(client, round, Math.floor(random() * 150));
      expect(textOf(await client.answer(open)), what).toContain("whether it was carried out is unknown");
      for (const { id, text } of sent) {
        // Each request has exactly one answer: the server's, or a refusal that says what is known.
        const answer = await client.answer(id);
        if (textOf(answer) === `written ${text}`) acknowledged.push(text);
        else expect(textOf(answer), `${what}: ${client.stderr}`).toMatch(/^! .*(is unknown|being restarted)/);
        expect(client.answers.get(id), what).toHaveLength(1);
      }
      await back(client);
      expect(desk.handshakes(), what).toBe(2 * round + 2);

      expect(textOf(await client.call("send", { arguments: { to: "a@b.example", body: secret } })), what).toMatch(
        /^! Not executed/,
      );
      expect(textOf(await client.call("remove", { arguments: { id: `${round}` } })), what).toBe(`removed ${round}`);
      expect(textOf(await client.call("slow", { arguments: slow.arguments })), what).toMatch(
        /may already have happened at \d\d:\d\d UTC/,
      );
      expect(client.noise, what).toEqual([]);
      expect((await client.close()).code, what).toBe(0);
      await check(acknowledged, round, what);
    }
    // Kills at moments that never met a finished call would prove nothing.
    expect(acknowledged.length).toBeGreaterThan(rounds);
    expect((await desk.finish(["audit", "verify"])).code).toBe(0);
    expect((await desk.finish(["daemon", "stop"])).code).toBe(0);
    expect(await desk.leftOver()).toEqual([]);
  },
);

test("a call in doubt still asks after a second crash and in another session of the client", async () => {
  const slow = { arguments: { text: "slow-twice." } };
  const crash = async (): Promise<void> => {
    const daemon = desk.daemonPid() ?? 0;
    process.kill(daemon, "SIGKILL");
    await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== daemon);
  };
  const first = await desk.connect();
  first.send("tools/call", { name: "slow", ...slow });
  await until(() => desk.executed().some((entry) => entry.arguments?.["text"] === "slow-twice."));
  await crash();
  await back(first);
  await first.close();
  const second = await desk.connect();
  await second.call("backup", { arguments: {} });
  await crash();
  await back(second);
  expect(textOf(await second.call("slow", slow))).toMatch(/may already have happened/);
  expect(desk.executed().filter((entry) => entry.arguments?.["text"] === "slow-twice.")).toHaveLength(1);
});

/** The log after a crash: sound, with everything that was acknowledged or executed on record. */
async function check(acknowledged: readonly string[], round: number, what: string): Promise<void> {
  const { views, valid, findings } = await desk.log();
  expect({ valid, findings }, what).toEqual({ valid: true, findings: [] });
  const calls = new Map<string, Set<string>>();
  const texts = new Map<string, string>();
  for (const view of views) {
    const text = /"text":"((?:round|slow)-[\d-]+\.)"/.exec(JSON.stringify(view.payload ?? {}))?.[1];
    for (const event of (view.clear["events"] ?? []) as readonly { kind: string; call?: string }[]) {
      // The clear part of a record is what our own codec wrote.
      if (event.call === undefined) continue;
      calls.set(event.call, (calls.get(event.call) ?? new Set()).add(event.kind));
      if (text !== undefined && event.kind === "dispatched") texts.set(text, event.call);
    }
  }
  const kinds = (text: string): readonly string[] => [...(calls.get(texts.get(text) ?? "") ?? [])];
  for (const text of acknowledged)
    expect(kinds(text), `${what}: ${text}`).toEqual(expect.arrayContaining(["dispatched", "succeeded", "released"]));
  for (const { tool, arguments: given } of desk.executed()) {
    if (tool === "write") expect(kinds(given?.["text"] ?? ""), `${what}: executed`).toContain("dispatched");
  }
  expect(kinds(`slow-${round}.`), what).toEqual(expect.arrayContaining(["dispatched", "unknown"]));
}
