/**
 * The tables. Rows of `agents` are never deleted: they hold the epochs. No time that decides anything is a wall-clock
 * time: `since_served_ms` counts the time in which the relay served (served-time.ts), and when a lease was renewed is
 * kept in memory alone.
 */
export const SCHEMA_VERSION = 1

export const SCHEMA = `
  CREATE TABLE agents (
    account TEXT NOT NULL,
    agent TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('held', 'released', 'lapsed')),
    instance TEXT NOT NULL,
    install TEXT NOT NULL,
    host TEXT NOT NULL,
    channel TEXT NOT NULL,
    version TEXT NOT NULL,
    acquired_at_ms INTEGER NOT NULL,
    takes TEXT NOT NULL,
    PRIMARY KEY (account, agent)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE messages (
    account TEXT NOT NULL,
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    source_agent TEXT NOT NULL,
    priority TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    acked INTEGER NOT NULL DEFAULT 0,
    acked_instance TEXT NOT NULL DEFAULT '',
    acked_install TEXT NOT NULL DEFAULT '',
    acked_key TEXT,
    since_served_ms INTEGER NOT NULL,
    PRIMARY KEY (account, agent, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX messages_pending ON messages (account, agent, id) WHERE acked = 0;
  CREATE INDEX messages_age ON messages (acked, since_served_ms);

  CREATE TABLE injections (
    account TEXT NOT NULL,
    agent TEXT NOT NULL,
    request_key TEXT NOT NULL,
    id TEXT NOT NULL,
    since_served_ms INTEGER NOT NULL,
    PRIMARY KEY (account, agent, request_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX injections_age ON injections (since_served_ms);

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    agent TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`
