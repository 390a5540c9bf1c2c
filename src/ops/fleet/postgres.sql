create schema if not exists checkpointd;
create table if not exists checkpointd.position (
  id integer primary key default 1 check (id = 1),
  version integer not null,
  collector uuid not null,
  last bigint not null,
  written_at timestamptz
);
create table if not exists checkpointd.sessions (
  session uuid primary key,
  machine text, journal uuid, native_session text not null, agent text not null,
  project text not null, remote text, title text,
  first_at timestamptz not null, last_at timestamptz not null,
  turns bigint not null, injected bigint not null, passed bigint not null, ended boolean not null
);
create table if not exists checkpointd.decisions (
  seq bigint primary key,
  at timestamptz not null, session uuid not null,
  machine text, journal uuid, journal_seq bigint,
  agent text not null, turn bigint not null,
  verdict text not null, reason text not null, route text, elapsed_ms bigint, delivery text not null,
  categories jsonb not null, actions jsonb not null, message text, withheld jsonb not null
);
create table if not exists checkpointd.tools (
  seq bigint primary key,
  at timestamptz not null, session uuid not null,
  machine text, journal uuid, journal_seq bigint,
  agent text not null, tool text not null, kind text not null,
  command text, is_error boolean not null, refused boolean not null, duration_ms bigint, withheld jsonb not null
);
create index if not exists sessions_of_machine on checkpointd.sessions (machine, last_at);
create index if not exists decisions_at on checkpointd.decisions (at);
create index if not exists decisions_of_session on checkpointd.decisions (session);
create index if not exists tools_at on checkpointd.tools (at);
create index if not exists tools_of_session on checkpointd.tools (session);
