/** Paths of the machine that every program expects, as far as they hold no secret. */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import type { SystemFolder } from "./bubblewrap.ts";

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

const etcNames: readonly string[] = [
  ["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "locale.alias"],
  ["ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/ca-trust/extracted", "ca-certificates"],
  ["mime.types", "protocols", "services", "os-release", "gai.conf", "fonts"],
].flat();

/** Folders that every machine has and no server needs: one of them is covered to hold files of the gateway. */
const spareFolders = ["/mnt", "/media", "/srv", "/opt", "/var/tmp", "/dev/shm", "/tmp"];

/** The system folders of this machine, as links or as folders. */
export function hostSystem(): readonly SystemFolder[] {
  return systemFolders.flatMap((path): readonly SystemFolder[] => {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return [];
    return facts.isSymbolicLink() ? [{ kind: "link", path, to: readlinkSync(path) }] : [{ kind: "folder", path }];
  });
}

/** Absolute paths of the files and folders of `/etc` that exist and hold no secret. */
export function hostEtc(): readonly string[] {
  return etcNames.map((name) => `/etc/${name}`).filter((path) => existsSync(path));
}

/** A folder that exists and neither contains nor is inside any of the paths; undefined if there is none. */
export function spareFolder(
  paths: readonly string[],
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  return spareFolders.find(
    (folder) => exists(folder) && !paths.some((path) => isWithin(path, folder) || isWithin(folder, path)),
  );
}
