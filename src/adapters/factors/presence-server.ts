/**
 * Serves the pages of user presence on the loopback interface, and only while one waits. A page's address carries a name
 * that cannot be guessed. The server listens on both loopback addresses, since a browser may take either for `localhost`,
 * and another process on the other one would be in its place.
 */
import { randomBytes } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { type PageContent, pageHeaders, pageHtml } from "./presence-page.ts";
import { rpId } from "./presence.ts";

/** Pages that wait at once. */
const pagesMax = 32;

/** An answer has at most a few kilobytes; an RSA registration is the largest. */
const answerBytesMax = 65_536;

/** Time that a connection may take for its request. */
const requestMsMax = 10_000;

/** Ports that are tried: another process may hold the same port of the other address. */
const portTries = 8;

export type AskedPage = {
  readonly content: PageContent;
  readonly challenge: Uint8Array;
  /** Checks the page's answer, given at this origin; the error is a sentence. */
  readonly check: (answer: Json, origin: string) => Result<void, string>;
  /** How long the page waits. */
  readonly waitMs: number;
};

export type WaitingPage = {
  readonly url: string;
  /** True once an answer held; false when the time was over. */
  readonly answered: Promise<boolean>;
};

type Page = AskedPage & { readonly settle: (held: boolean) => void; done: boolean };

export class PresenceServer {
  readonly #pages = new Map<string, Page>();
  #listening: Promise<Result<Listening, string>> | undefined;

  /** Serves a page until it is answered or its time is over; the error is a sentence. */
  async open(asked: AskedPage): Promise<Result<WaitingPage, string>> {
    if (this.#pages.size >= pagesMax) return err("Too many approvals wait for a key: answer those first.");
    const name = randomBytes(16).toString("hex");
    // Taken before the wait, so that the server is not closed meanwhile.
    const answered = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => settle(false), asked.waitMs);
      timer.unref();
      const settle = (held: boolean): void => {
        clearTimeout(timer);
        page.done = true; // an answer that arrives after the time is over proves nothing
        resolve(held);
        // The page's own last request is still to be answered.
        setImmediate(() => this.#forget(name));
      };
      const page: Page = { ...asked, settle, done: false };
      this.#pages.set(name, page);
    });
    this.#listening ??= listen((request, response) => void this.#serve(request, response));
    const listening = await this.#listening;
    if (listening.ok) return ok({ url: `${listening.value.origin}/${name}`, answered });
    this.#listening = undefined;
    this.#pages.delete(name);
    return listening;
  }

  #forget(name: string): void {
    this.#pages.delete(name);
    if (this.#pages.size > 0) return;
    const closing = this.#listening;
    this.#listening = undefined;
    void closing?.then((listening) => listening.ok && listening.value.close());
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const listening = await this.#listening;
    const page = this.#pages.get(request.url?.slice(1) ?? "");
    const answer = (status: number, text: string, more: Readonly<Record<string, string>> = {}): void => {
      const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer", connection: "close", ...more };
      response.writeHead(status, { "x-content-type-options": "nosniff", ...headers }).end(text);
    };
    // Any other name for this address is that of a site which had it resolved to here.
    const origin = listening?.ok === true ? listening.value.origin : "";
    if (`http://${request.headers.host ?? ""}` !== origin || page === undefined)
      return answer(404, "There is no such page, or it is over.\n");
    if (request.method === "GET") {
      const nonce = randomBytes(16).toString("base64");
      const challenge = Buffer.from(page.challenge).toString("base64url");
      return answer(200, pageHtml(page.content, challenge, nonce), pageHeaders(nonce));
    }
    const typed = request.headers["content-type"] === "application/json";
    if (request.method !== "POST" || request.headers.origin !== origin || !typed)
      return answer(403, "This request is not the page's own.\n");
    const body = await bodyOf(request);
    const checked = body === undefined ? err("The answer cannot be read.") : taken(page, body, origin);
    if (!checked.ok) return answer(403, checked.error);
    answer(200, "Done: you can close this page.");
    page.settle(true);
  }
}

/** Checks an answer; a page takes one that holds, so two at once are no two proofs. */
function taken(page: Page, body: Json, origin: string): Result<void, string> {
  if (page.done) return err("This was answered already, or its time is over.");
  const checked = page.check(body, origin);
  page.done ||= checked.ok;
  return checked;
}

type Listening = { readonly origin: string; readonly close: () => void };
type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on one port of both loopback addresses; on the one alone where the machine has no other. */
async function listen(handle: Handle): Promise<Result<Listening, string>> {
  for (let tries = 0; tries < portTries; tries += 1) {
    const first = await listenOn(handle, "127.0.0.1", 0);
    if (typeof first === "string") return err(`The page cannot be served (${first}): check the loopback interface.`);
    const { port } = first.address() as AddressInfo; // of a server that listens on a port
    const second = await listenOn(handle, "::1", port);
    const close = (): void => {
      first.close();
      if (typeof second !== "string") second.close();
    };
    if (second === "EADDRINUSE" || second === "EACCES") close();
    else return ok({ origin: `http://${rpId}:${port}`, close });
  }
  return err("The page cannot be served: no port is free on both loopback addresses.");
}

/** The server, or the system's code for why there is none. */
function listenOn(handle: Handle, host: string, port: number): Promise<Server | string> {
  return new Promise((resolve) => {
    const server = createServer({ requestTimeout: requestMsMax, headersTimeout: requestMsMax }, handle);
    server.maxConnections = pagesMax;
    server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? "EIO"));
    server.listen({ host, port, ipv6Only: host === "::1" }, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function bodyOf(request: IncomingMessage): Promise<Json | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > answerBytesMax) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined; // the browser went away in the middle
  }
  return attempt(() => JSON.parse(Buffer.concat(parts).toString("utf8")) as Json, undefined);
}
