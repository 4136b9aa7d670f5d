import {
  relayed,
  startHttpFixture,
  startHttpRelay,
  stdioFixture,
  type FixtureOptions,
  allowAllPolicy,
} from "../server/run-fixture.ts";
import { guarded, startGateway, type Sandbox } from "../gateway/run-gateway.ts";
import type { ClientKind, Destination } from "./connection.ts";
import { runOperations, type Outcomes } from "./operations.ts";

export type Way = "direct" | "relay" | "gateway";
export type TransportKind = Destination["kind"];

type Reached = { readonly destination: Destination; readonly stop: () => Promise<void> };

/** What stands between client and server; `start` puts it in front of an HTTP server. */
function wrapped(command: readonly string[], way: Way): readonly string[] {
  switch (way) {
    case "direct":
      return command;
    case "relay":
      return relayed(command);
    case "gateway":
      return guarded(command);
  }
}

async function before(upstream: string, way: Way, sandbox: Sandbox) {
  switch (way) {
    case "direct":
      return { url: upstream, stop: async () => {} };
    case "relay":
      return await startHttpRelay(upstream);
    case "gateway":
      return await startGateway(upstream, sandbox, { policy: allowAllPolicy });
  }
}

async function reach(kind: TransportKind, way: Way, sandbox: Sandbox, options: FixtureOptions): Promise<Reached> {
  if (kind === "stdio") {
    const command = wrapped(stdioFixture(options), way);
    return {
      destination: { kind, command, env: { PATH: process.env["PATH"] ?? "", ...sandbox.env } },
      stop: async () => {},
    };
  }
  const fixture = await startHttpFixture(options);
  const front = await before(fixture.url, way, sandbox);
  const stop = async (): Promise<void> => {
    await front.stop();
    await fixture.stop();
  };
  return { destination: { kind, url: front.url }, stop };
}

/** Runs the operations with one client over one transport in one way, against a fixture of its own. */
export async function outcomesOf(
  client: ClientKind,
  kind: TransportKind,
  way: Way,
  more: { readonly sandbox: Sandbox; readonly fixture?: FixtureOptions },
): Promise<Outcomes> {
  const reached = await reach(kind, way, more.sandbox, more.fixture ?? {});
  try {
    const connection = await client.connect(reached.destination);
    try {
      return await runOperations(connection);
    } finally {
      await connection.close();
    }
  } finally {
    await reached.stop();
  }
}
