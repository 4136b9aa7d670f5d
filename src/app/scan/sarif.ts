/** A scan as SARIF 2.1.0 (OASIS), for code scanning services and editors. */
import { isAbsolute, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { allRules, textOfFamily, textOfRule } from "./finding-texts.ts";
import type { EntryReport, ServerReport } from "./scan.ts";

export function sarifOf(reports: readonly ServerReport[], version: string): object {
  const rules = allRules().map(({ id, finds, matters }) => ({
    id,
    shortDescription: { text: finds },
    fullDescription: { text: `${finds}. ${matters}` },
  }));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "Sluicegate", version, rules } },
        invocations: [
          {
            executionSuccessful: reports.every((report) => report.gaps.length === 0),
            toolExecutionNotifications: reports.flatMap((report) =>
              report.gaps.map((gap) => ({
                level: "error",
                message: { text: `${report.server}: ${gap}` },
                locations: [locationOf(report)],
              })),
            ),
          },
        ],
        results: reports.flatMap((report) => report.reports.flatMap((entry) => resultsOf(report, entry))),
      },
    ],
  };
}

function resultsOf(report: ServerReport, { list, entry, verdict, findings }: EntryReport): object[] {
  return findings.map(({ rule, family, pointer, excerpt, fingerprint }) => ({
    ruleId: rule,
    level: verdict === "deny" ? "error" : "warning",
    message: {
      text: `${report.server}, ${list}, \`${entry}\` at ${pointer === "" ? "its text" : pointer}: ${textOfRule(rule)}. ${textOfFamily(family)} Text of the server: "${excerpt}"`,
    },
    locations: [
      { ...locationOf(report), logicalLocations: [{ fullyQualifiedName: `${report.server}/${list}/${entry}` }] },
    ],
    partialFingerprints: { "sluicegate/v1": fingerprint },
  }));
}

/** The line that names the server, relative to the working directory where the file is below it. */
function locationOf({ place: { file, line } }: ServerReport): object {
  const below = relative(process.cwd(), file);
  const uri = below.startsWith("..") || isAbsolute(below) ? pathToFileURL(file).href : below.replaceAll("\\", "/");
  return { physicalLocation: { artifactLocation: { uri }, region: { startLine: line } } };
}
