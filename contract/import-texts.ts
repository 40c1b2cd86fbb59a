/**
 * The sentences of import reports, by code. They say what could not be imported unchanged and what became of it, or why
 * an import is impossible (`fault_…`). `{name}` is a placeholder; the report also contains its value. Each sentence is
 * written both here and where it is used, and a test compares the two. The codes never change. The console translates
 * the texts.
 */
export const importTexts = {
  ratio_by_sent_name:
    'new-api charges by the requested name, Tollgate by the name that is sent upstream. The name that is sent upstream gets the price of the requested name.',
  price_of_other_name:
    'The model has no price under the name that is sent upstream. It gets the price of its requested name.',
  price_unset: 'The model has no price there and is charged at ratio {number}. It gets the same ratio here.',
  group_unset: 'The group is used but has no ratio. It gets 1, which is what was charged.',
  option_long: 'The option is longer than {max} characters and is not imported.',
  option_hub_tables: '{program} does not use this option; its own tables are imported instead.',
  option_channel_prices: '{program} does not use this option; the prices of its channels are imported instead.',
  option_without_place: 'The option has no counterpart.',
  option_invalid: 'The value of the option is not valid here. The option keeps its default.',
  option_set_here: 'This installation has another value for the option. That value stays.',
  entry_invalid: 'The entry in {key} is not valid here and is skipped: {reason}.',
  entry_rounded: 'The entry in {key} is rounded to six decimals.',
  price_by_type: 'Channels have different prices for the model. Here the price depends on the type of the channel.',
  price_highest: 'Channels of one type have different prices for the model. The highest one applies.',
  price_deployments:
    'Deployments of the same model have different prices. Here the price depends on the type of the channel.',
  price_of_deployment: 'The deployment has no price. It gets that of another deployment of the same model.',
  price_parts: 'The price has parts without a counterpart: {names}.',
  price_completion_only:
    'Only the completion has a price. Here it is free, because prices are relative to the prompt: set a price.',
  price_extra_ratio: 'The extra ratio {name} has no counterpart.',
  group_off: 'The group is disabled in the source. Here it can be used.',
  group_promotion: 'In the source, users get into this group by topping up. Here, an admin assigns the group.',
  channel_type_unknown: 'Type {number} has no counterpart here. The channel is disabled, as a custom one.',
  channel_key_form: 'The key does not have the form of its type. The channel is disabled.',
  channel_key_missing: 'The channel has no key. It is disabled.',
  channel_no_auto_ban:
    'In the source, the channel was never disabled automatically. Here, the option for all channels decides.',
  channel_field_dropped: 'The {key} is not valid here. It is dropped: {reason}',
  channel_field_disables: 'The {key} is not valid here. It is dropped and the channel is disabled: {reason}',
  channel_url_appended:
    'new-api calls the URL of a custom channel as it is. Here the path of each call is appended: check the URL.',
  channel_coding_plan:
    'The channel has the name of a coding plan instead of a URL. The channel becomes an OpenAI-compatible one at {url}; requests in the format of Anthropic are translated.',
  channel_config_form: 'The config is not a JSON object and is dropped.',
  channel_setting: 'The setting {key} of the channel has no counterpart.',
  channel_column: 'The {key} of the channel has no counterpart.',
  channel_conditions: 'The {key} has conditions, which have no counterpart.',
  channel_not_json: 'The {key} is not a JSON object and is dropped.',
  code_empty: 'The code is empty and is skipped.',
  code_here: 'This installation already has the code. The one from the source is skipped.',
  token_key_missing: 'The token has no key and is skipped.',
  token_here: 'This installation already has a token with this key. The one from the source is skipped.',
  token_owner_missing: 'The owner of the token does not exist. The token is skipped.',
  token_list_empty: 'The token is restricted to an empty list of models or addresses. It is disabled.',
  token_address: 'An allowed address of the token cannot be read. It is dropped; the others stay.',
  token_second_group: 'The second group of the token has no counterpart.',
  token_group_auto: 'The group auto has no counterpart. The token uses the group of its owner.',
  token_balance_negative: 'The balance of an unlimited token is negative, which has no meaning. It is set to 0.',
  token_id_taken: 'The id of the token is already taken here. The token gets another one.',
  token_pattern: 'A pattern among the models of the key has no counterpart. It is dropped; the others stay.',
  token_period:
    'The budget is renewed after a time that has no counterpart. What is left of it becomes the quota of the token.',
  token_column: 'The column {key} of the key has no counterpart.',
  token_paths: 'The key may call only some paths, which has no counterpart. It is disabled.',
  token_not_hashed: 'The key is not stored as a SHA-256 and is skipped.',
  token_ownerless: 'The key belongs to no user of the source. An account is created that owns it and pays for it.',
  user_password: 'The password has an unknown form. It cannot be used; reset it.',
  user_without_budget: 'The user has no budget in the source. Here, the user gets a balance of {number}.',
  user_period: 'The budget is renewed after a time that has no counterpart. What is left of it becomes the balance.',
  amount_negative: 'A negative {key} is set to 0.',
  amount_large: 'A {key} above {max} is lowered to it.',
  amount_not_number: 'A {key} that is not a number is set to 0.',
  amount_fraction: 'The fraction of a {key} is dropped.',
  status_unreadable: 'The status is not a number. The row is disabled.',
  expiry_unreadable: 'The expiry cannot be read. The row is disabled.',
  deleted_zero_date: 'The deletion time is 0000-00-00. The source treats the row as deleted, and so does the import.',
  user_telegram: 'The Telegram login has no counterpart.',
  user_discord: 'The Discord login has no counterpart.',
  user_linux_do: 'The LINUX DO login has no counterpart.',
  user_second_factor: 'Two-factor authentication has no counterpart: the user logs in with the password alone.',
  user_reward: 'Rewards for invitations that the user had not yet moved to the balance are not imported.',
  user_remark: 'The note about the user has no counterpart.',
  user_setting: 'The personal settings (notifications) have no counterpart.',
  user_mcp: 'The list of MCP tools that the user may not call has no counterpart.',
  user_metadata: 'The other settings of the user have no counterpart.',
  user_stripe: 'The Stripe customer has no counterpart.',
  user_id_taken: 'The id of the user is already taken here. The user gets another one.',
  user_name_taken: 'The name is taken. The user gets a name with the suffix {suffix}.',
  user_root_to_admin:
    'The account is a super admin in the source. Here it becomes an admin: the super admin of this installation stays.',
  user_invitation_taken: 'The invitation code is taken. The user gets a new one.',
  user_access_token_taken: 'The access token belongs to another account here. It is not imported.',
  user_known_password:
    'The super admin still has the default password of one-api. The password of this installation stays.',
  user_root_access_token:
    'The super admin of this installation has an access token. It stays, and the one from the source does not work.',
  user_passwords:
    "LiteLLM's passwords cannot be used here. Give the user a password, or let the user ask for one by email.",
  user_viewer: 'The user has read-only access in the source. Here, the user becomes an ordinary user.',
  user_column: 'The column {key} of the user has no counterpart.',
  deployment_environment:
    'The channel takes a value from the environment that is not set here. Without a key, the channel is disabled.',
  deployment_twice: 'The deployment is listed twice. One of them is imported.',
  deployment_pattern:
    'The deployment has a name pattern or no model name, which has no counterpart. Create a channel with the names of the models.',
  deployment_parameter: 'The parameter {key} of the deployment has no counterpart.',
  deployment_provider: 'The provider {name} has no counterpart. The channel is disabled.',
  litellm_master_key: 'The master key is not imported as a token. Use the super admin of this installation instead.',
  litellm_setting: 'The setting of LiteLLM has no counterpart.',
  litellm_fallback: 'In the source, a failed request continues with another model. Create a virtual model for this.',
  litellm_alias:
    'The model has an alias in the source. Create a virtual model for it, or add it to the model mapping of a channel.',
  column_unknown: 'The source has a column that this version does not know. It is not imported.',
  table_truncated: 'Only {max} rows of the table are kept, because it has no numeric key.',
  table_without_place: 'The table {name} has no counterpart.',
  fault_no_logs:
    '{source} has no table logs. If the log is in a database of its own, give its address with --logs-from.',
  fault_in_use:
    'The installation already has users, channels or a log. Add to them (--merge), or import into a new installation.',
  fault_salt_missing:
    'The keys of the channels are encrypted. Set LITELLM_SALT_KEY to the salt key of LiteLLM or, if it has none, LITELLM_MASTER_KEY to its master key.',
  fault_salt_wrong:
    'The keys of the channels were encrypted with another key. Set LITELLM_SALT_KEY to the salt key that LiteLLM uses; nothing was changed.',
  fault_config_missing: "There is no file {source}. Check the path of LiteLLM's config.yaml.",
  fault_config_large: '{source} is too large to be a configuration of LiteLLM.',
  fault_config_yaml: '{source} is not valid YAML ({reason}). Correct it, and run the command again.',
  fault_config_form: '{source} is not a configuration of LiteLLM: it has no model_list.',
  fault_login: '{source} rejects the user or the password. Check both in the address.',
  fault_no_database: '{source} does not exist on that server. Check the name at the end of the address.',
  fault_unreachable: '{source} cannot be reached ({reason}). Check the host, the port and the firewall.',
  fault_unreadable:
    '{source} cannot be read ({reason}). Check that the user may read all tables, and run the command again; it continues where it stopped.',
  fault_address_postgres:
    'The address is not complete. It has the form postgres://user:password@host:5432/name; special characters of the password are percent-encoded.',
  fault_address_mysql:
    'The address is not complete. It has the form mysql://user:password@host:3306/name; special characters of the password are percent-encoded.',
  fault_no_file: 'There is no file {source}. Check the path.',
  fault_not_file: '{source} is not a file. Give the path of the database, such as /data/one-api.db.',
  fault_empty: '{source} is empty. Copy the database again while its program is stopped.',
  fault_locked: '{source} is locked by its program. Stop the program, or import from a copy of the file.',
  fault_damaged:
    '{source} cannot be read ({reason}). It is damaged or not a SQLite database: copy it again while its program is stopped, or repair it with "sqlite3 {path} .recover".',
  fault_upload_gone: 'The uploaded file is no longer here. Upload it again.',
  fault_config_elsewhere: '{source} is not a database of LiteLLM, so its configuration does not belong to it.',
  fault_scheme:
    '{name}:// is not an address that can be imported from. Give postgres://…, mysql://… or the path of a SQLite file.',
  fault_leftovers_line: 'Line {line} is not a leftover of an import. Give a leftovers file that an import wrote.',
  fault_own_database:
    '{source} is a database of Tollgate itself. To copy an installation, use a backup of its database instead.',
  fault_other_program:
    "{source} is not a database of one-api, new-api, one-hub, Laisky's one-api or LiteLLM: it has no {name}. Check the address.",
  fault_incomplete:
    'The database of {program} is incomplete: {reason}. Start {name} once, so that it finishes its own upgrade, then import again.',
  fault_node_gone: 'No running server has the uploaded file {name}. Upload it again.',
  fault_unexpected: 'The import failed unexpectedly: {reason}',
  fault_host_unknown: 'The host {name} is unknown.',
  fault_metadata: 'The address must not be a cloud metadata service.',
  fault_large_id:
    'The table {name} has a row with the id {number}, which is too large. Correct or delete this row in the source, and import again.',
  fault_no_id:
    'The table {name} has a row without an id, or with an id that is not a whole number. Correct or delete this row in the source, and import again.',
  fault_id_type:
    'The column id of the table {name} has the type {reason}, not a whole number. Change its type in the source, and import again.',
  fault_id_twice:
    'The table {name} has several rows with the id {number}. Correct or delete these rows in the source, and import again.',
  fault_unopened:
    '{source} cannot be opened ({reason}). Check that this user may read the file and write to its folder. If its program did not end cleanly, start and stop it once, or import from a copy of the file and all files beside it.',
  fault_full:
    'The disk of this installation cannot be written ({reason}). Free some space, and import again. Nothing was changed.',
  fault_lost_commit:
    'The connection to the database of this installation was lost at the end ({reason}). Import again: if the accounts are there, it continues. In this case, keep {name}, which has the items without a counterpart; otherwise delete it.',
  fault_full_log:
    'The disk of this installation cannot be written ({reason}). The accounts and a part of the log are imported. Free some space, and import again: it continues where it stopped.',
  fault_full_temporary:
    'The disk for temporary files cannot be written ({reason}). Free some space, or set SQLITE_TMPDIR to a folder on another disk, and run the command again.',
  fault_sums:
    'The sums differ, so nothing was imported: {name} is {there} there, corrected by {corrected}, but {here} here. If the source is in use, stop its program and run the command again.',
} as const

export type ImportTextCode = keyof typeof importTexts
