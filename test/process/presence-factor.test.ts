// `approvals.factor: presence`: a key that is touched on a page of the daemon, in software and in a real browser.
import { spawn } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Authenticator } from "../kit/client/authenticator.ts";
import { Browser, chromium } from "./fixture/browser.ts";
import { GuardedClient, asking } from "./fixture/guarded-client.ts";
import { finished } from "./fixture/world.ts";

let desk: GuardedClient;
beforeEach(() => {
  desk = new GuardedClient();
});
afterEach(() => desk.dispose());

type Command = { readonly url: Promise<string>; readonly done: Promise<{ stdout: string; stderr: string }> };

/** A command that waits for a touch: its page, and what it says in the end. */
function command(...words: readonly string[]): Command {
  const child = spawn(process.execPath, [desk.launcher, ...words], { env: desk.env });
  let told = "";
  const url = new Promise<string>((resolve) => {
    child.stderr.on("data", (part: Buffer) => {
      told += part.toString();
      const found = /http:\/\/localhost:\d+\/[0-9a-f]{32}/.exec(told)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => resolve(`no page: ${told}`));
  });
  return { url, done: finished(child) };
}

/** Reads a page as a browser does. */
async function pageOf(url: string): Promise<{ readonly text: string; readonly challenge: Uint8Array }> {
  const text = await (await fetch(url)).text();
  const given = /id="given">(.*?)<\/script>/.exec(text)?.[1] ?? "{}";
  const { challenge } = JSON.parse(given) as { readonly challenge: string }; // of our own page
  return { text, challenge: Buffer.from(challenge, "base64url") };
}

async function post(url: string, answer: object): Promise<Response> {
  const headers = { "content-type": "application/json", origin: new URL(url).origin };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(answer) });
}

async function register(key: Authenticator): Promise<void> {
  const adding = command("factor", "add", "presence");
  const url = await adding.url;
  const { challenge } = await pageOf(url);
  expect((await post(url, key.register({ challenge, origin: new URL(url).origin }))).status).toBe(200);
  expect((await adding.done).stdout).toContain("Registered");
}

test("A9: a touched key approves the call that its page shows, and the log names the factor", async () => {
  const key = new Authenticator();
  await register(key);
  await desk.begin("{factor: presence}");
  const id = await desk.card("for Eve");
  const approving = command("approve", id);
  const url = await approving.url;
  const { text, challenge } = await pageOf(url);
  expect(text).toContain("for Eve");
  const stranger = new Authenticator().answer({ challenge, origin: new URL(url).origin });
  expect((await post(url, stranger)).status).toBe(403);
  expect((await post(url, key.answer({ challenge, origin: new URL(url).origin }))).status).toBe(200);
  expect((await approving.done).stdout).toContain("Approved");
  expect(await desk.write("for Eve")).toBe("written for Eve");
  const { views } = await desk.log();
  expect(JSON.stringify(views)).toContain("operator:presence");
});

test("A9: the answer for one call is none for another, and a child of the client gains nothing without a key", async () => {
  const key = new Authenticator();
  await register(key);
  await desk.begin("{factor: presence}");
  const ids = [await desk.card("a"), await desk.card("b")];
  const [first, second] = [command("approve", ids[0] ?? ""), command("approve", ids[1] ?? "")];
  const urls = [await first.url, await second.url];
  const { challenge } = await pageOf(urls[0] ?? "");
  const answer = key.answer({ challenge, origin: new URL(urls[0] ?? "").origin });
  expect(await (await post(urls[1] ?? "", answer)).text()).toContain("about another approval");
  expect((await post(urls[0] ?? "", answer)).status).toBe(200);
  expect((await first.done).stdout).toContain("Approved");
  const bare = asking(
    `{ kind: "approve", id: "${ids[1]}", choice: "once", tickets: ["${(urls[1] ?? "").slice(-32)}"] }`,
  );
  expect(await desk.byAgentProgram(bare)).toContain("needs a touch of your key");
  const other = asking(`{ kind: "factor-add", factor: "presence" }`);
  expect(await desk.byAgentProgram(other)).toContain("needs a touch of your key");
  expect(await desk.write("b")).toMatch(/^! Not executed/);
});

test.runIf(chromium !== undefined)(
  "A9: a real browser registers a key and approves with it (needs Chromium)",
  async () => {
    const browser = new Browser();
    try {
      await browser.begin();
      const adding = command("factor", "add", "presence");
      expect(await browser.press(await adding.url)).toContain("Done");
      expect((await adding.done).stdout).toContain("Registered");
      await desk.begin("{factor: presence}");
      const approving = command("approve", await desk.card());
      expect(await browser.press(await approving.url)).toContain("Done");
      expect((await approving.done).stdout).toContain("Approved");
      expect(await desk.write()).toBe("written a");
    } finally {
      await browser.end();
    }
  },
);
