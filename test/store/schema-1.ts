/** The tables of a log as the release before format 2 made them. */
export const schema = `
PRAGMA application_id = 1371761278;
PRAGMA user_version = 1;
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
