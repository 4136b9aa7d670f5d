/**
 * Functions of each dialect that compute a value of their arguments, of the rows or of the clock, and do nothing else.
 * What is not here may sleep, lock, count a sequence on, read a file, reach a network or run another statement, so a
 * statement that calls it is no read: `pg_sleep`, `nextval`, `set_config`, `pg_read_file`, `lo_export`, `dblink`,
 * `query_to_xml`, `load_extension`, `load_file`, `sleep`, `get_lock`.
 */
import type { SqlDialect } from "../../../core/reading.ts";

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const everywhere = names(`
  abs acos asin atan atan2 avg ceil ceiling coalesce concat concat_ws cos count cume_dist degrees dense_rank exp first_value
  floor lag last_value lead left length ln log log10 lower ltrim max min mod nth_value ntile nullif percent_rank pi power
  radians rank replace reverse right round row_number rtrim sign sin sqrt substr substring sum tan trim upper
`);

const postgres = names(`
  age any_value array_agg array_append array_cat array_dims array_length array_lower array_ndims array_position array_positions
  array_prepend array_remove array_replace array_to_json array_to_string array_upper ascii bit_and bit_length bit_or bool_and bool_or
  btrim cardinality cbrt char_length character_length chr clock_timestamp corr cosh covar_pop covar_samp current_database
  current_schema date date_bin date_part date_trunc decode div encode every extract family format generate_series
  generate_subscripts greatest host initcap isfinite json_agg json_array_elements json_array_elements_text json_array_length
  json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object json_object_agg
  json_object_keys json_strip_nulls json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
  jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object
  jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_query jsonb_path_query_array jsonb_path_query_first jsonb_pretty
  jsonb_set jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval least like_escape lpad make_date
  make_interval make_time make_timestamp make_timestamptz masklen md5 mode netmask network now num_nonnulls num_nulls numrange
  octet_length overlay percentile_cont percentile_disc pg_column_size pg_database_size pg_get_constraintdef pg_get_indexdef
  pg_get_viewdef pg_indexes_size pg_relation_size pg_size_pretty pg_table_size pg_total_relation_size pg_typeof position
  quote_ident quote_literal quote_nullable random range_agg regexp_count regexp_instr regexp_like regexp_match regexp_matches
  regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
  regr_slope repeat row_to_json rpad scale sha224 sha256 sha384 sha512 similar_to_escape sinh split_part starts_with
  statement_timestamp stddev stddev_pop stddev_samp string_agg string_to_array string_to_table strpos tanh text timeofday timezone
  to_char to_date to_hex to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector plainto_tsquery phraseto_tsquery
  websearch_to_tsquery transaction_timestamp translate trunc ts_headline ts_rank ts_rank_cd unnest upper_inf lower_inf isempty
  var_pop var_samp variance version width_bucket has_table_privilege has_schema_privilege obj_description col_description
  format_type overlaps
`);

const sqlite = names(`
  char changes date datetime format glob group_concat hex ifnull iif instr json json_array json_array_length json_each
  json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
  json_remove json_replace json_set json_tree json_type json_valid julianday like likelihood likely last_insert_rowid nullif
  octet_length printf quote random randomblob sqlite_source_id sqlite_version strftime string_agg time timediff total
  total_changes trunc typeof unhex unicode unixepoch unlikely zeroblob soundex generate_series highlight snippet bm25 acosh asinh
  atanh cosh sinh tanh log2 median percentile
`);

const mysql = names(`
  adddate addtime ascii any_value bin bit_and bit_count bit_length bit_or bit_xor char char_length character_length chr conv
  convert_tz cot crc32 curdate current_date current_time current_timestamp current_user curtime database schema date date_add
  date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt export_set extract field find_in_set format
  from_base64 from_days from_unixtime greatest group_concat grouping hex hour if ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa
  instr interval is_ipv4 is_ipv6 isnull json_array json_arrayagg json_contains json_contains_path json_depth json_extract
  json_keys json_length json_merge_patch json_object json_objectagg json_overlaps json_pretty json_quote json_search json_type
  json_unquote json_valid json_value last_day lcase least localtime localtimestamp locate log2 lpad ltrim make_set makedate maketime
  md5 microsecond mid minute month monthname now oct octet_length ord period_add period_diff position pow quarter quote rand
  regexp_instr regexp_like regexp_replace regexp_substr repeat rpad sec_to_time second sha sha1 sha2 soundex space std stddev
  stddev_pop stddev_samp str_to_date strcmp subdate substring_index subtime sysdate time time_format time_to_sec timediff timestamp
  timestampadd timestampdiff to_base64 to_days to_seconds truncate ucase unhex unix_timestamp user utc_date utc_time utc_timestamp
  var_pop var_samp variance version week weekday weekofyear weight_string year yearweek st_astext st_asgeojson st_distance
  st_distance_sphere st_x st_y
`);

const listed = (...some: readonly (readonly string[])[]): ReadonlySet<string> => new Set(some.flat());

export const sqlFunctions: { readonly [dialect in SqlDialect]: ReadonlySet<string> } = {
  postgres: listed(everywhere, postgres),
  sqlite: listed(everywhere, sqlite),
  mysql: listed(everywhere, mysql),
  mariadb: listed(everywhere, mysql),
};

/** Types of casts whose input is read without a function of a user. */
export const sqlTypes: ReadonlySet<string> = new Set(
  names(`
  bigint bigserial binary bit bool boolean bpchar bytea char character cidr date datetime dec decimal double float float4 float8 inet
  int int2 int4 int8 integer interval json jsonb macaddr money name nchar numeric nvarchar oid real regclass regproc regtype signed
  smallint text time timestamp timestamptz timetz tinyint tsquery tsvector unsigned uuid varbit varchar blob
`),
);

/** Operators of PostgreSQL; others may be a user's own. */
export const postgresOperators: ReadonlySet<string> = new Set(
  names(`
  + - * / % ^ = <> != < > <= >= || && & | # ~ << >> -> ->> #> #>> @> <@ ? @@ ~~ !~~ ~~* !~~* ~* !~ !~* -|- |/ ||/ @ <-> ^@ !! ~>~ ~<~
  BETWEEN SYMMETRIC NOT
`),
);
