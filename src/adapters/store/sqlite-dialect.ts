/**
 * All SQL of the SQLite store. Another database would get another file like this one; no other module contains SQL.
 *
 * A record's primary key is writer * 2^32 + seq: one integer that is unique, in chain order, and needs no second index.
 * 2^21 writers (starts of a gateway) of 2^32 records each stay exact in a double.
 */
export const applicationId = 0x51_c3_6a_7e;

/**
 * Version of the schema below and of what its records hold; a database with a higher one is refused, so that no earlier
 * release goes on in a log that it cannot read. 2 has the tables of 1, and records of format 2; 3 may lack records that
 * others name as removed.
 */
export const schemaVersion = 3;

/** Sequence numbers for each writer: the factor of the writer in a record id. */
export const seqSpan = 2 ** 32;

/** Primary key of a record. */
export function recordId(writer: number, seq: number): number {
  return writer * seqSpan + seq;
}

export const schema = `
CREATE TABLE writers (
  writer INTEGER PRIMARY KEY,
  boot TEXT NOT NULL,
  durability TEXT NOT NULL,
  opened_ms INTEGER NOT NULL,
  -- 1: closed in order; 0: still open or crashed; 2: lost in a power cut that was dealt with
  clean INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  payload BLOB,
  fingerprint TEXT NOT NULL
) STRICT;
CREATE INDEX records_of_run ON records (run, id) WHERE run <> '';
CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;
CREATE TABLE documents (digest TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE open_calls (
  run TEXT NOT NULL,
  call TEXT NOT NULL,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  wall_ms INTEGER NOT NULL,
  PRIMARY KEY (run, call)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  key TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  parent TEXT,
  policy TEXT NOT NULL,
  begun_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  idle_ms INTEGER NOT NULL,
  top INTEGER NOT NULL,
  resume TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_open ON runs (key) WHERE ended_ms IS NULL;
CREATE TABLE shared (
  owner TEXT PRIMARY KEY,
  policy TEXT NOT NULL,
  top INTEGER NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  principal TEXT NOT NULL,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  policy TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  status TEXT NOT NULL,
  card BLOB,
  decided_by TEXT,
  role TEXT,
  decided_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_of_call ON approvals (run, arguments, status);
CREATE INDEX approvals_by_age ON approvals (expires_ms);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  run TEXT NOT NULL,
  server TEXT NOT NULL,
  target TEXT NOT NULL,
  initialize TEXT NOT NULL,
  touched_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_age ON sessions (touched_ms);
CREATE TABLE manifests (
  key TEXT PRIMARY KEY,
  server TEXT NOT NULL,
  revision TEXT NOT NULL,
  digest TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  manifest TEXT NOT NULL,
  seen_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * Tables that came after the first release of the schema, made wherever they are missing. A reader of a file of that release
 * finds none of them: `sqlite-read.ts` takes each for empty.
 */
export const additions = `
CREATE TABLE IF NOT EXISTS snapshots (
  run TEXT PRIMARY KEY,
  record INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
-- Records that say which records left the log.
CREATE TABLE IF NOT EXISTS prunings (record INTEGER PRIMARY KEY) STRICT;
-- Runs of which records left, each with the newest record that says so.
CREATE TABLE IF NOT EXISTS pruned_runs (run TEXT PRIMARY KEY, record INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_ended ON runs (ended_ms, key) WHERE ended_ms IS NOT NULL;
`;

export const sql = {
  insertRecord: "INSERT INTO records (id, run, kind, body, payload, fingerprint) VALUES (?, ?, ?, ?, ?, ?)",
  insertCheckpoint: "INSERT INTO checkpoints (id, body, signature) VALUES (?, ?, ?)",
  insertDocument: "INSERT INTO documents (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
  insertOpenCall:
    "INSERT OR REPLACE INTO open_calls (run, call, server, tool, digest, wall_ms) VALUES (?, ?, ?, ?, ?, ?)",
  deleteOpenCall: "DELETE FROM open_calls WHERE run = ? AND call = ?",
  openCalls: "SELECT * FROM open_calls ORDER BY wall_ms, run, call",
  recordsOldest: "SELECT * FROM records WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
  recordsNewest: "SELECT * FROM records WHERE id > ? AND id < ? ORDER BY id DESC LIMIT ?",
  runRecordsOldest: "SELECT * FROM records WHERE run = ? AND run <> '' AND id > ? AND id < ? ORDER BY id LIMIT ?",
  runRecordsNewest: "SELECT * FROM records WHERE run = ? AND run <> '' AND id > ? AND id < ? ORDER BY id DESC LIMIT ?",
  /** Writers that have records: one index seek for each writer that ever started. */
  writersWithRecords:
    "SELECT writer FROM writers WHERE EXISTS (SELECT 1 FROM records WHERE id > writers.writer * 4294967296 AND id < (writers.writer + 1) * 4294967296) ORDER BY writer",
  checkpoints: "SELECT * FROM checkpoints WHERE id > ? AND id < ? ORDER BY id",
  document: "SELECT body FROM documents WHERE digest = ?",
  head: "SELECT id, fingerprint FROM records WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1",

  putRun:
    "INSERT OR REPLACE INTO runs (key, principal, parent, policy, begun_ms, ended_ms, idle_ms, top, resume) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  run: "SELECT * FROM runs WHERE key = ?",
  openRuns: "SELECT * FROM runs WHERE ended_ms IS NULL ORDER BY key",
  // Keys begin with the principal and a slash, and "0" comes after "/": the range is one walk of the primary key.
  runsEnding:
    "SELECT * FROM runs WHERE key > ?1 || '/' AND key < ?1 || '0' AND substr(key, -length(?2)) = ?2 ORDER BY key",
  topRuns: "UPDATE runs SET top = 1 WHERE ended_ms IS NULL",
  putShared: "INSERT OR REPLACE INTO shared (owner, policy, top, value) VALUES (?, ?, ?, ?)",
  shared: "SELECT * FROM shared WHERE owner = ?",
  sharedRows: "SELECT * FROM shared ORDER BY owner LIMIT ?",
  topShared: "UPDATE shared SET top = 1",

  insertApproval:
    "INSERT INTO approvals (id, run, principal, server, tool, arguments, policy, created_ms, expires_ms, status, card, decided_by, role, decided_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  approval: "SELECT * FROM approvals WHERE id = ?",
  approvals: "SELECT * FROM approvals WHERE expires_ms > ? ORDER BY created_ms DESC, id LIMIT ?",
  decideApproval:
    "UPDATE approvals SET status = ?, decided_by = ?, role = ?, decided_ms = ? WHERE id = ? AND status = 'pending' AND expires_ms > ? RETURNING *",
  // One statement finds and uses up: of all who race for it, exactly one gets the row.
  takeApproval:
    "UPDATE approvals SET status = 'used' WHERE id = (SELECT id FROM approvals WHERE run = ? AND principal = ? AND server = ? AND tool = ? AND arguments = ? AND policy = ? AND status = 'approved' AND expires_ms > ? ORDER BY expires_ms, id LIMIT 1) AND status = 'approved' RETURNING *",

  putSession:
    "INSERT OR REPLACE INTO sessions (id, principal, run, server, target, initialize, touched_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
  session: "SELECT * FROM sessions WHERE id = ?",
  dropSession: "DELETE FROM sessions WHERE id = ?",
  dropSessions: "DELETE FROM sessions WHERE touched_ms < ?",
  putManifest:
    "INSERT OR REPLACE INTO manifests (key, server, revision, digest, capabilities, manifest, seen_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
  manifest: "SELECT * FROM manifests WHERE key = ?",

  hasTable: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
  // Only of an open run: one that ended meanwhile needs none.
  putSnapshot:
    "INSERT OR REPLACE INTO snapshots (run, record, sealed) SELECT key, ?2, ?3 FROM runs WHERE key = ?1 AND ended_ms IS NULL",
  snapshot: "SELECT * FROM snapshots WHERE run = ?",
  snapshotRuns: "SELECT run FROM snapshots WHERE run > ? ORDER BY run LIMIT ?",
  dropSnapshot: "DELETE FROM snapshots WHERE run = ?",

  endedRuns: `SELECT runs.*, EXISTS (SELECT 1 FROM records WHERE records.run = runs.key AND records.run <> '') AS filled,
    EXISTS (SELECT 1 FROM open_calls WHERE open_calls.run = runs.key) AS calls,
    EXISTS (SELECT 1 FROM approvals WHERE approvals.run = runs.key AND status IN ('pending', 'approved') AND expires_ms > ?1) AS consents
    FROM runs WHERE ended_ms IS NOT NULL AND (ended_ms, key) > (?2, ?3) AND ended_ms < ?4 ORDER BY ended_ms, key LIMIT ?5`,
  runHeads:
    "SELECT id, fingerprint, octet_length(body) + coalesce(octet_length(payload), 0) AS bytes FROM records WHERE run = ? AND run <> '' AND id > ? ORDER BY id LIMIT ?",
  /** Records of a range that may leave; a record of no run has no row to join. */
  mayLeave: `SELECT count(*) AS count FROM records JOIN runs ON runs.key = records.run
    WHERE records.id BETWEEN ?1 AND ?2 AND records.run IN (SELECT value FROM json_each(?3)) AND runs.ended_ms < ?4
    AND NOT EXISTS (SELECT 1 FROM open_calls WHERE open_calls.run = runs.key)
    AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.run = runs.key AND status IN ('pending', 'approved') AND expires_ms > ?5)`,
  removeRecords: "DELETE FROM records WHERE id BETWEEN ? AND ?",
  putPruning: "INSERT INTO prunings (record) VALUES (?)",
  putPrunedRun: "INSERT OR REPLACE INTO pruned_runs (run, record) VALUES (?, ?)",
  dropApprovals: "DELETE FROM approvals WHERE run = ?",
  prunings:
    "SELECT id, run, kind, body, NULL AS payload, fingerprint FROM prunings JOIN records ON records.id = prunings.record WHERE prunings.record > ? AND prunings.record < ? ORDER BY prunings.record",
  /** Records of the log itself that are there, of this kind. */
  ownRecords:
    "SELECT count(*) AS count FROM records WHERE run = '' AND kind = ?1 AND id IN (SELECT value FROM json_each(?2))",
  knownPrunings: "SELECT count(*) AS count FROM prunings WHERE record IN (SELECT value FROM json_each(?))",
  /** Of the given runs with their marks those that need neither row nor mark. */
  goneRuns: `SELECT given.value ->> '$[0]' AS run FROM json_each(?1) AS given JOIN pruned_runs
    ON pruned_runs.run = given.value ->> '$[0]' AND pruned_runs.record = given.value ->> '$[1]'
    WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.run = pruned_runs.run AND records.run <> '')
    AND NOT EXISTS (SELECT 1 FROM open_calls WHERE open_calls.run = pruned_runs.run)
    AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.run = pruned_runs.run)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.parent = pruned_runs.run)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = pruned_runs.run AND (ended_ms IS NULL OR ended_ms >= ?2))
    AND pruned_runs.run NOT IN (SELECT run FROM sessions)`,
  dropRun: "DELETE FROM runs WHERE key = ?",
  dropPrunedRun: "DELETE FROM pruned_runs WHERE run = ?",
  removeRecord: "DELETE FROM records WHERE id = ?",
  removePruning: "DELETE FROM prunings WHERE record = ?",
  removeSignatures:
    "DELETE FROM checkpoints WHERE id BETWEEN ?1 AND ?2 AND id < (SELECT max(id) FROM checkpoints WHERE id < ?3)",
  prunedBy: "SELECT record FROM pruned_runs WHERE run = ?",

  insertWriter: "INSERT INTO writers (boot, durability, opened_ms) VALUES (?, ?, ?) RETURNING writer",
  /**
   * Writers of another boot without a clean mark whose commits did not wait for the disk: their last commits may be
   * lost.
   */
  cutWriters: "SELECT count(*) AS cut FROM writers WHERE clean = 0 AND boot <> ? AND durability <> 'full'",
  uncleanWriters: "SELECT count(*) AS unclean FROM writers WHERE clean = 0 AND boot <> ?",
  settleWriters: "UPDATE writers SET clean = 2 WHERE clean = 0 AND boot <> ?",
  cleanWriter: "UPDATE writers SET clean = 1 WHERE writer = ?",
  lastHead: "SELECT id, fingerprint FROM records ORDER BY id DESC LIMIT 1",
} as const;
