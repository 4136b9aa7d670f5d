/** The reports of a run of the tests, and their text output. */
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

export const statuses = ["passed", "failed", "skipped"] as const;

export type Tested = {
  readonly file: string;
  readonly fullName: string;
  readonly status: (typeof statuses)[number];
  /** Of each attempt that failed, also where a later one passed. */
  readonly failures: readonly string[];
};

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

/** The tests of several reports of Vitest; a report that is not there has none. */
export function testedIn(root: string, reports: readonly string[]): readonly Tested[] {
  return reports.filter(existsSync).flatMap((file) => {
    const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report; // Vitest wrote it
    return testResults.flatMap((suite) =>
      suite.assertionResults.map(({ status, fullName, failureMessages = [] }) => ({
        file: relative(root, suite.name),
        fullName,
        // Vitest reports some tests that it did not run as `pending` or `todo`.
        status: statuses.find((known) => known === status) ?? "skipped",
        failures: failureMessages,
      })),
    );
  });
}

export type Flake = { readonly file: string; readonly test: string; readonly failure: string };

/** Tests that failed, were tried again and passed. */
export function flakesIn(tested: readonly Tested[]): readonly Flake[] {
  return tested.flatMap(({ file, fullName, status, failures: [first] }) =>
    status === "passed" && first !== undefined ? [{ file, test: fullName, failure: first.split("\n")[0] ?? "" }] : [],
  );
}

export function count(tested: readonly Tested[], status: Tested["status"]): number {
  return tested.filter((one) => one.status === status).length;
}

/** Tests that a transcript is on record for, and that did not run: a renamed test would be compared with nothing. */
export function unplayed(transcripts: string, tested: readonly Tested[]): readonly string[] {
  const ran = new Set(tested.map(({ fullName }) => fullName));
  const lines = transcripts.split("\n").filter((line) => line !== "");
  const names = new Set(lines.map((line) => (JSON.parse(line) as readonly [string])[0])); // as the tests wrote it
  return [...names].filter((name) => !ran.has(name.replaceAll(" > ", " ")));
}
