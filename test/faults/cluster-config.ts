// What the programs of the cluster are told. Patroni reads YAML, which JSON is.

export type Member = {
  readonly name: string;
  /** An address of the loopback that is this member's alone. */
  readonly address: string;
  /** Where this member finds etcd, so that it alone can be cut off from it. */
  readonly etcd: string;
  readonly folder: string;
};

export const ports = {
  postgres: 5432,
  patroni: 8008,
  etcd: 2379,
  etcdPeers: 2380,
  primary: 5000,
  replica: 5001,
  api: 8080,
  stats: 7000,
  pgbouncer: 6432,
} as const;

export const local = "127.0.0.1";
export const owner = "postgres";

/** How soon a primary that says nothing is replaced; Patroni's own defaults are three times as long. */
const lease = { ttl: 9, loop_wait: 1, retry_timeout: 4 } as const;

export const synchronous = {
  synchronous_mode: true,
  synchronous_mode_strict: true,
  maximum_lag_on_failover: 1_048_576,
} as const;

/** Whoever is left becomes the primary, whatever it lacks. */
export const asynchronous = {
  synchronous_mode: false,
  synchronous_mode_strict: false,
  maximum_lag_on_failover: 1_073_741_824,
} as const;

const accessRules = [
  "local all all trust",
  "host all all 127.0.0.0/8 trust",
  "host replication all 127.0.0.0/8 trust",
];

export function patroniConfig({ name, address, etcd, folder }: Member, binaries: string): string {
  const listen = `${address}:${ports.postgres}`;
  return JSON.stringify({
    scope: "scripdesk",
    name,
    restapi: {
      listen: `${address}:${ports.patroni}`,
      connect_address: `${address}:${ports.patroni}`,
    },
    // By etcd's second API: what Patroni 3.0 keeps of the third's answers went stale in a failover, and
    // no standby was synchronous from then on (decision database). The address stands for the one etcd there
    // is; another that it tells of would lead past a partition.
    etcd: { hosts: [`${etcd}:${ports.etcd}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ...lease,
        ...synchronous,
        // A primary that crashed is replaced, not waited for.
        master_start_timeout: 0,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          remove_data_directory_on_rewind_failure: true,
          remove_data_directory_on_diverged_timelines: true,
          parameters: {
            max_connections: 120,
            shared_buffers: "64MB",
            wal_level: "replica",
            max_wal_size: "256MB",
            wal_keep_size: "512MB",
            wal_sender_timeout: "5s",
            wal_receiver_timeout: "5s",
            hot_standby: "on",
            // Earlier versions of the service leave the compiler on, which takes longer than they wait.
            jit: "off",
          },
        },
      },
      initdb: [{ encoding: "UTF8" }, "data-checksums", { auth: "trust" }],
    },
    postgresql: {
      listen,
      connect_address: listen,
      data_dir: `${folder}/data`,
      bin_dir: binaries,
      pgpass: `${folder}/pgpass`,
      use_unix_socket: true,
      authentication: {
        superuser: { username: owner },
        replication: { username: "replicator" },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: accessRules,
    },
    watchdog: { mode: "off" },
  });
}

/** The primary, the replicas and the nodes of the service, each behind one address. */
export function haproxyConfig(members: readonly Member[], nodes: readonly number[]): string {
  const servers = members.map(
    ({ name, address }) =>
      `  server ${name} ${address}:${ports.postgres} check port ${ports.patroni}`,
  );
  const database = (name: string, port: number, path: string) => [
    `listen ${name}`,
    `  bind ${local}:${port}`,
    "  mode tcp",
    "  timeout client 30m",
    "  timeout server 30m",
    `  option httpchk OPTIONS ${path}`,
    "  http-check expect status 200",
    "  default-server inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions",
    ...servers,
  ];
  return [
    "global",
    "  maxconn 2000",
    "defaults",
    "  timeout connect 2s",
    "  timeout check 2s",
    "  timeout client 30s",
    "  timeout server 30s",
    ...database("primary", ports.primary, "/primary"),
    ...database("replica", ports.replica, "/replica"),
    "listen stats",
    `  bind ${local}:${ports.stats}`,
    "  mode http",
    "  stats enable",
    "  stats uri /",
    "listen api",
    `  bind ${local}:${ports.api}`,
    "  mode http",
    "  option httpchk GET /readyz",
    "  http-check expect status 200",
    // A node that is slow to say that it is ready is not away.
    "  timeout check 5s",
    "  default-server inter 500ms fall 1 rise 1",
    ...nodes.map((port) => `  server api-${port} ${local}:${port} check`),
    "",
  ].join("\n");
}

export type PoolMode = "session" | "transaction";

export function poolerSettings({
  folder,
  mode,
  port,
  databases,
}: {
  readonly folder: string;
  readonly mode: PoolMode;
  readonly port: number;
  readonly databases: string;
}): string {
  return [
    "[databases]",
    databases,
    "[pgbouncer]",
    `listen_addr = ${local}`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${folder}/users`,
    `pool_mode = ${mode}`,
    "default_pool_size = 80",
    "max_client_conn = 500",
    // A server that was away is looked for again at once.
    "server_login_retry = 1",
    "server_connect_timeout = 3",
    "query_wait_timeout = 5",
    "",
  ].join("\n");
}

export const throughPooler = `scripdesk = host=${local} port=${ports.primary} dbname=scripdesk`;
export const pgbouncerUsers = `"scripdesk" ""\n"${owner}" ""\n`;
