// Statements that begin as a query and do more: functions, clauses and statements of one dialect.
import { beforeAll, describe, expect, it } from "vitest";
import { lines, sqlFaults } from "../../../../test/kit/readings/readings.ts";

let because: Awaited<ReturnType<typeof sqlFaults>>;
beforeAll(async () => {
  because = await sqlFaults();
});

describe("what does more, or cannot be read, in one dialect", () => {
  it.each(
    lines(String.raw`
      select pg_sleep(5)
      select pg_catalog.pg_sleep(5)
      select pg_terminate_backend(1)
      select pg_cancel_backend(1)
      select pg_read_file('/etc/passwd')
      select pg_read_binary_file('/etc/passwd')
      select pg_ls_dir('/')
      select pg_stat_file('/etc/passwd')
      select lo_export(1, '/tmp/x')
      select lo_import('/etc/passwd')
      select lo_unlink(1)
      select lo_create(0)
      select dblink('dbname=x', 'drop table t')
      select * from dblink('x', 'y') as t(a int)
      select dblink_exec('x', 'y')
      select nextval('s')
      select setval('s', 1)
      select currval('s')
      select set_config('a.b', 'c', false)
      select current_setting('data_directory')
      select pg_reload_conf()
      select pg_rotate_logfile()
      select pg_switch_wal()
      select pg_create_restore_point('x')
      select pg_start_backup('x')
      select pg_promote()
      select pg_advisory_lock(1)
      select pg_try_advisory_lock(1)
      select pg_notify('a', 'b')
      select pg_stat_reset()
      select pg_stat_statements_reset()
      select pg_drop_replication_slot('x')
      select pg_create_logical_replication_slot('x', 'y')
      select pg_logical_slot_get_changes('x', null, null)
      select pg_import_system_collations('x')
      select txid_current()
      select pg_current_xact_id()
      select pg_export_snapshot()
      select pg_logical_emit_message(true, 'a', 'b')
      select query_to_xml('drop table t', true, true, '')
      select database_to_xml(true, true, '')
      select table_to_xml('t', true, true, '')
      select cursor_to_xml('x', 1, true, true, '')
      select ts_stat('select 1')
      select ts_rewrite('a'::tsquery, 'select 1')
      select crosstab('drop table t')
      select xpath_table('a', 'b', 'c', 'd', 'e')
      select plpgsql_call_handler()
      select pg_file_write('x', 'y', false)
      select pg_execute_server_program('x')
      select brin_summarize_new_values('i')
      select gin_clean_pending_list('i')
      select pg_replication_origin_create('x')
      select pg_log_backend_memory_contexts(1)
      select pg_wal_replay_pause()
      select binary_upgrade_set_next_oid(1)
      select suppress_redundant_updates_trigger()
      select ('/etc/passwd'::text).pg_read_file
      select (5).pg_sleep
      select x.pg_sleep from generate_series(1, 2) as x
      select x.pg_sleep from generate_series(1, 2) as x(n)
      select generate_series.pg_sleep from generate_series(1, 2)
      select x.a.b from unnest(array[1]) as x
      select public.count(1)
      select public.lower('a')
      select 1 operator(public.+) 2
      select a %% b from t
      select a <~> b from t
      select 'x'::evil
      select 'x'::public.text
      select cast('x' as evil)
      select * from t tablesample system (1)
      select * from rows from (generate_series(1, 2)) as x(a) where pg_sleep(1) is null
      select * from xmltable('/a' passing b columns c int)
      select xmlparse(document 'x')
      select json_serialize('{}')
      select * from json_table('{}', '$' columns (a int))
      select merge_action()
      select a from t where current of c
      select current_catalog, (a).b from t
      copy (select 1) to program 'sh'
      copy t to '/tmp/x'
      copy t from program 'sh'
      listen x
      notify x
      load 'x'
      do $$ begin end $$
      prepare x as select 1
      execute x
      declare c cursor for select 1
      fetch all from c
      lock table t
      vacuum
      analyze
      cluster t
      reindex table t
      refresh materialized view v
      security label on table t is 'x'
      comment on table t is 'x'
      import foreign schema a from server b into c
      create extension dblink
      alter system set a = b
      discard all
      reset all
      checkpoint
      select a from t for no key update
      select a from t for key share
      select a from t for update of t nowait
      select 1 as "a", nextval('s') over ()
      select count(*) filter (where pg_sleep(1) is null) from t
      select a from t order by pg_sleep(1)
      select a from t limit nextval('s')
      select a from t group by pg_sleep(1)
      select a from t join u on pg_sleep(1) is null
      select (select pg_sleep(1))
      select case when pg_sleep(1) is null then 1 end
      select array(select nextval('s'))
      select a[nextval('s')] from t
      select sum(a) over (order by nextval('s')) from t
      with x as materialized (select nextval('s')) select * from x
      select * from (values (nextval('s'))) as v(a)
    `),
  )("PostgreSQL: %s", (text) => {
    expect(because("postgres", text)).toBeTypeOf("string");
  });

  it.each(
    lines(String.raw`
      pragma writable_schema = 1
      pragma journal_mode
      pragma table_info(t)
      attach 'x' as y
      attach database 'x' as y
      detach y
      vacuum
      vacuum into 'x'
      reindex
      analyze
      select load_extension('x')
      select load_extension('x', 'y')
      select writefile('x', 'y')
      select readfile('x')
      select edit('x')
      select fts3_tokenizer('x')
      select sqlite_compileoption_used('x')
      select zipfile('a', 'b')
      select * from fsdir('/')
      select * from zipfile('x')
      select * from 'fsdir'('/')
      select * from pragma_optimize
      select * from pragma_journal_mode
      select * from main.pragma_optimize
      select * from "pragma_optimize"
      select * from Pragma_Optimize
      select * from pragma_table_info('t')
      select [a] from t
      select * from t indexed by i where f(1)
      select raise(abort, 'x')
      select a ->> '$.b' from t where load_extension('x')
      select 1 union select load_extension('x')
      select (select load_extension('x'))
      select a from t order by load_extension('x')
      select a from t limit load_extension('x')
      select a from t group by a having load_extension('x')
      select case load_extension('x') when 1 then 2 end
      select a in (load_extension('x')) from t
      select a between load_extension('x') and 2 from t
      select a like load_extension('x') from t
      select count(*) filter (where load_extension('x')) from t
      select sum(a) over (order by load_extension('x')) from t
      with x as (select load_extension('x')) select 1 from x
      with load_extension (a) as (select 1) select load_extension('x') from load_extension
      select cast(load_extension('x') as text)
      select -load_extension('x')
      select load_extension('x') collate nocase
      select LOAD_EXTENSION ('x')
      select "load_extension"('x')
      select a from t join u on load_extension('x')
      select a, * from (select load_extension('x'))
      values (load_extension('x'))
      replace into t values (1)
      insert or replace into t values (1)
      create trigger x after insert on t begin select 1; end
      create virtual table x using fts5(a)
      select 1 returning 1
      release x
      end
    `),
  )("SQLite: %s", (text) => {
    expect(because("sqlite", text)).toBeTypeOf("string");
  });

  it.each(
    lines(String.raw`
      select sleep(5)
      select SLEEP (5)
      select benchmark(1000, md5('a'))
      select get_lock('a', 1)
      select release_lock('a')
      select release_all_locks()
      select load_file('/etc/passwd')
      select sys_exec('x')
      select sys_eval('x')
      select lib_mysqludf_sys_info()
      select master_pos_wait('a', 1)
      select source_pos_wait('a', 1)
      select wait_for_executed_gtid_set('a')
      select last_insert_id(5)
      select uuid_short()
      select nextval(s)
      select lastval(s)
      select setval(s, 1)
      select next value for s
      select previous value for s
      select s.nextval
      select name_const('a', 1)
      select version_tokens_set('x')
      select service_get_write_locks('a', 'b', 1)
      select keyring_key_remove('x')
      select group_replication_set_as_primary('x')
      select a into outfile '/tmp/x' from t
      select a from t into outfile '/tmp/x'
      select a from t into dumpfile '/tmp/x'
      select a into @x from t
      select a from t into @x
      select a from t lock in share mode
      select a from t for update
      select a from t procedure analyse()
      select 1 /*!32302 into outfile '/tmp/x' */
      select 1/*M! into outfile '/tmp/x' */
      select @a:=1
      select @@global.general_log
      select @@version
      select @a
      select 1 # x
      set global general_log = 1
      set @a = 1
      load data infile 'x' into table t
      load data local infile 'x' into table t
      load xml infile 'x' into table t
      handler t open
      do sleep(1)
      kill 1
      flush tables
      reset master
      purge binary logs to 'x'
      change master to master_host = 'x'
      start slave
      install plugin x soname 'y'
      uninstall plugin x
      create function f returns string soname 'x'
      create event e on schedule every 1 day do select 1
      lock tables t write
      unlock tables
      optimize table t
      repair table t
      analyze table t
      check table t
      rename table t to u
      shutdown
      prepare x from 'drop table t'
      execute x
      signal sqlstate '45000'
      use mysql
      show processlist
      describe t
      delimiter //
      select a from t where sleep(1)
      select a from t order by sleep(1)
      select if(1, sleep(1), 2)
      select (select sleep(1))
      select a from t having sleep(1)
      select a from t limit 1 union select sleep(1)
      select s.sleep(1)
      select mysql.sleep(1)
    `).concat(["select `sleep`(1)", "select `a``b`(1)"]),
  )("MySQL and MariaDB: %s", (text) => {
    expect(because("mysql", text)).toBeTypeOf("string");
    expect(because("mariadb", text)).toBeTypeOf("string");
  });
});
