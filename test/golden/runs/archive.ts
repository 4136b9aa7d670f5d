/** Several state folders in one compressed file: a line that names the files and their sizes, then their bytes. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

const windowBits = 24;

export function pack(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  const bytes = files.map((name) => readFileSync(join(folder, name)));
  const head = JSON.stringify(files.map((name, index) => [name, bytes[index]?.length]));
  const params = { [constants.BROTLI_PARAM_LGWIN]: windowBits, [constants.BROTLI_PARAM_QUALITY]: 11 };
  return brotliCompressSync(Buffer.concat([Buffer.from(`${head}\n`), ...bytes]), { params });
}

/** Writes the files anew below a folder, for their owner alone, as the log wants it. */
export function unpack(packed: Buffer, folder: string): void {
  const whole = brotliDecompressSync(packed);
  const end = whole.indexOf("\n");
  const files = JSON.parse(whole.subarray(0, end).toString("utf8")) as readonly (readonly [string, number])[]; // as `pack` wrote it
  let at = end + 1;
  for (const [name, size] of files) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, whole.subarray(at, at + size), { mode: 0o600 });
    at += size;
  }
}
