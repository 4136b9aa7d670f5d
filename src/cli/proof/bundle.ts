/**
 * Certificate files. One certificate a file, or a bundle in which the certificates of several hazards share what they are
 * about: `{...certificate without its proof, proofs: [{hazard, core, variables, nodes, root}]}`.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { shortPath } from "../output.ts";

/** Bytes of one certificate file; one for a thousand tools has a few hundred kilobytes. */
export const certificateBytesMax = 16 * 1024 * 1024;

/** Files looked at in a folder of certificates. */
export const certificateFilesMax = 1_000;

const proofMembers = ["hazard", "core", "variables", "nodes", "root"] as const;

/** Several certificates about one policy and one label table as one value. */
export function bundle(certificates: readonly JsonObject[]): JsonObject {
  const [first = {}] = certificates;
  const shared = Object.fromEntries(
    Object.entries(first).filter(([name]) => !proofMembers.some((own) => own === name)),
  );
  const proofs = certificates.map((one) =>
    Object.fromEntries(Object.entries(one).filter(([name]) => proofMembers.some((own) => own === name))),
  );
  return { ...shared, proofs };
}

/** The certificates of a value, hostile as it is: whatever is no bundle is taken for one certificate. */
export function unbundle(value: Json): readonly Json[] {
  const proofs = member(value, "proofs");
  if (!isObject(value) || !isArray(proofs)) return [value];
  const shared = Object.fromEntries(Object.entries(value).filter(([name]) => name !== "proofs"));
  return proofs.map((proof) => (isObject(proof) ? { ...shared, ...proof } : proof));
}

/** Writes one file for each hazard. */
export function writeCertificates(
  folder: string,
  certificates: ReadonlyMap<string, JsonObject>,
): Result<undefined, string> {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [hazard, certificate] of certificates) {
      writeFileSync(join(folder, `${hazard.replaceAll(/[^\w.-]/g, "_")}.json`), `${JSON.stringify(certificate)}\n`);
    }
    return ok(undefined);
  } catch {
    return err(`Certificates cannot be written to ${shortPath(folder)}: check the folder and its permissions.`);
  }
}

export type ReadCertificate = { readonly file: string; readonly certificate: Json };

/** All certificates of a file, or of every `.json` file of a folder. */
export function readCertificates(place: string): Result<readonly ReadCertificate[], string> {
  let file = place;
  try {
    const files = statSync(place).isDirectory()
      ? readdirSync(place)
          .filter((name) => name.endsWith(".json"))
          .toSorted()
          .map((name) => join(place, name))
      : [place];
    if (files.length === 0)
      return err(`${shortPath(place)} holds no certificate: run \`sluicegate proof verify\` with --cert-dir.`);
    if (files.length > certificateFilesMax)
      return err(`${shortPath(place)} holds more than ${certificateFilesMax} files: name the one to check.`);
    const found: ReadCertificate[] = [];
    for (file of files) {
      if (statSync(file).size > certificateBytesMax) {
        return err(
          `${shortPath(file)} is larger than ${certificateBytesMax} bytes: it is no certificate, name another file.`,
        );
      }
      // Whatever the text is, it is JSON from here on, and the checker looks at every part of it.
      const certificates = unbundle(JSON.parse(readFileSync(file, "utf8")) as Json);
      for (const certificate of certificates) found.push({ file, certificate });
    }
    return ok(found);
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? "is no JSON" : "cannot be read";
    return err(`${shortPath(file)} ${problem}: make it anew with \`sluicegate proof verify\`.`);
  }
}
