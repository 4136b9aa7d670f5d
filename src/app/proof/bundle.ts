/**
 * Certificate files. One certificate a file, or a bundle in which the certificates of several hazards share what they are
 * about: `{...certificate without its proof, proofs: [{hazard, core, variables, nodes, root}]}`.
 */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "../../adapters/make-folder.ts";
import { type Json, type JsonObject, isArray, isObject, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { shortPath } from "../state/sentences.ts";
import { fileBytes, whyUnread, whyUnwritten, fileSentence } from "../state/text-file.ts";

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

/** The certificates of a value, hostile as it is: any value other than a bundle counts as one certificate. */
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
    makeFolder(resolve(folder));
    for (const [hazard, certificate] of certificates) {
      writeFileSync(join(folder, `${hazard.replaceAll(/[^\w.-]/g, "_")}.json`), `${JSON.stringify(certificate)}\n`);
    }
    return ok(undefined);
  } catch (cause) {
    const why = whyUnwritten(cause);
    return err(`Certificates cannot be written to ${shortPath(folder)} (${why}): name another folder with --cert-dir.`);
  }
}

export type ReadCertificate = { readonly file: string; readonly certificate: Json };

/** All certificates of a file, or of every `.json` file of a folder. */
export function readCertificates(place: string): Result<readonly ReadCertificate[], string> {
  const files = certificateFiles(place);
  if (!files.ok) return files;
  const found: ReadCertificate[] = [];
  for (const file of files.value) {
    const read = readOne(file);
    if (!read.ok) return read;
    for (const certificate of read.value) found.push({ file, certificate });
  }
  return ok(found);
}

const anew = "make it anew with `sluicegate proof verify POLICY --cert-dir FOLDER`.";

function certificateFiles(place: string): Result<readonly string[], string> {
  try {
    if (!statSync(place).isDirectory()) return ok([place]);
    const names = readdirSync(place).filter((name) => name.endsWith(".json"));
    if (names.length === 0) return err(`${shortPath(place)} is a folder without certificates (*.json): ${anew}`);
    if (names.length > certificateFilesMax)
      return err(`${shortPath(place)} holds more than ${certificateFilesMax} files: name the one to check.`);
    return ok(names.toSorted().map((name) => join(place, name)));
  } catch (cause) {
    return err(`${shortPath(place)} cannot be read (${whyUnread(cause)}): check the path, or ${anew}`);
  }
}

function readOne(file: string): Result<readonly Json[], string> {
  const read = fileBytes(file, certificateBytesMax);
  if (!read.ok)
    return err(
      fileSentence(
        file,
        read.error,
        `larger than ${certificateBytesMax} bytes: it is not a certificate, name another file.`,
        `check the path, or ${anew}`,
      ),
    );
  try {
    // Whatever the text is, it is JSON from here on, and the checker looks at every part of it.
    return ok(unbundle(JSON.parse(read.value.toString("utf8")) as Json));
  } catch {
    return err(`${shortPath(file)} is not JSON, so it is not a certificate: ${anew}`);
  }
}
