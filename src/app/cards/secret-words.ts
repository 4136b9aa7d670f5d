/** Names under which programs are given what signs them in. */
const secretName =
  /(?:^|[_-])(?:tokens?|secrets?|password|passwd|pass|passphrase|passcode|pwd|pat|credentials?|auth|authorization|apikey|key|cookie|session|jwt|dsn|sig|signature|webhook)(?:$|[_-])|(?:api|access|private|secret|auth)[_-]?key|bearer|passw(?:or)?d|pgpass|connection[_-]?string|database[_-]?ur[il]|postgres(?:ql)?[_-]?ur[il]/i;

/** Working directories, whose names look like a password's. */
const places: ReadonlySet<string> = new Set(["PWD", "OLDPWD"]);

/** Whether a variable, header or option of this name holds a secret; `authToken` is read as `auth-token`. */
export function looksSecret(name: string): boolean {
  return !places.has(name) && secretName.test(name.replace(/([a-z0-9])([A-Z])/g, "$1-$2"));
}
