import type { Translation } from './namespaces.ts'

export const findingJa = {
  'finding.ratio_by_sent_name':
    'new-api はリクエストされた名前で課金しますが、ここではアップストリームに送る名前で課金します。後者に前者の価格を設定します。',
  'finding.price_of_other_name': 'アップストリームに送る名前には価格がありません。もう一方の名前の価格を設定します。',
  'finding.price_unset': '移行元ではモデルに価格がなく、倍率 {number} で課金されます。ここでも同じ倍率を設定します。',
  'finding.group_unset': 'グループは使われていますが、倍率がありません。これまでの課金と同じ 1 を設定します。',
  'finding.option_long': 'オプションが {max} 文字を超えているため、引き継がれません。',
  'finding.option_hub_tables': '{program} はこのオプションを使いません。代わりに独自のテーブルを引き継ぎます。',
  'finding.option_channel_prices': '{program} はこのオプションを使いません。代わりにチャネルの価格を引き継ぎます。',
  'finding.option_without_place': '対応するオプションがありません。',
  'finding.option_invalid': 'オプションの値はここでは無効です。デフォルトのままにします。',
  'finding.option_set_here': 'オプションはここで別の値に設定されているため、そのままにします。',
  'finding.entry_invalid': '{key} のエントリーはここでは無効なため、除外されます：{reason}。',
  'finding.entry_rounded': '{key} のエントリーは小数点以下 6 桁に丸められます。',
  'finding.price_by_type': 'モデルの価格がチャネルごとに異なります。ここでは価格はチャネルの種類で決まります。',
  'finding.price_highest': '同じ種類のチャネルでモデルの価格が異なります。最も高い価格を使います。',
  'finding.price_deployments': '同じモデルのデプロイごとに価格が異なります。ここでは価格はチャネルの種類で決まります。',
  'finding.price_of_deployment': 'デプロイに価格がありません。同じモデルの別のデプロイの価格を設定します。',
  'finding.price_parts': '価格に対応のない部分があります：{names}。',
  'finding.price_completion_only':
    '出力だけに価格があります。ここでは価格が入力を基準とするため無料になります。価格を設定してください。',
  'finding.price_extra_ratio': '追加の倍率 {name} に対応するものがありません。',
  'finding.group_off': '移行元ではグループがオフですが、ここでは使用できます。',
  'finding.group_promotion': '移行元ではチャージでこのグループに入ります。ここでは管理者が移動します。',
  'finding.channel_type_unknown': '種類 {number} に対応するものがありません。チャネルはカスタムとして無効になります。',
  'finding.channel_key_form': 'キーの形式が種類に合いません。チャネルは無効になります。',
  'finding.channel_key_missing': 'チャネルにキーがありません。無効になります。',
  'finding.channel_no_auto_ban':
    'このチャネルは自動では無効になりませんでした。ここでは全チャネル共通のオプションで決まります。',
  'finding.channel_field_dropped': '{key} はここでは無効なため、破棄されます：{reason}',
  'finding.channel_field_disables': '{key} はここでは無効なため破棄され、チャネルは無効になります：{reason}',
  'finding.channel_url_appended':
    'new-api はカスタムチャネルの URL をそのまま呼び出します。ここでは各リクエストのパスが付加されるため、URL を確認してください。',
  'finding.channel_coding_plan':
    'URL の代わりにコーディングプランの名前があります。チャネルは {url} の OpenAI 互換チャネルになり、Anthropic 形式のリクエストは変換されます。',
  'finding.channel_config_form': 'config は JSON オブジェクトではないため、破棄されます。',
  'finding.channel_setting': 'チャネルの設定 {key} に対応するものがありません。',
  'finding.channel_column': 'チャネルの {key} に対応するものがありません。',
  'finding.channel_conditions': '{key} には条件があり、対応するものがありません。',
  'finding.channel_not_json': '{key} は JSON オブジェクトではないため、破棄されます。',
  'finding.code_empty': 'コードが空のため、除外されます。',
  'finding.code_here': 'コードはすでにここにあります。移行元のものは除外されます。',
  'finding.token_key_missing': 'トークンにキーがないため、除外されます。',
  'finding.token_here': 'このキーのトークンはすでにここにあります。移行元のものは除外されます。',
  'finding.token_owner_missing': 'トークンの所有者が存在しません。トークンは除外されます。',
  'finding.token_list_empty': 'トークンが空のモデルまたは IP の一覧に制限されています。無効になります。',
  'finding.token_address': 'トークンの許可 IP に読み取れないものがあります。それだけを破棄します。',
  'finding.token_second_group': 'トークンの 2 つ目のグループに対応するものがありません。',
  'finding.token_group_auto': 'グループ auto に対応するものがありません。トークンは所有者のグループを使います。',
  'finding.token_balance_negative': '無制限トークンの残高が負ですが、意味はありません。0 に設定します。',
  'finding.token_id_taken': 'トークンの ID はここで使われています。別の ID になります。',
  'finding.token_pattern': 'キーのモデルにあるパターンに対応するものがありません。それだけを破棄します。',
  'finding.token_period': '予算の更新周期に対応するものがありません。残りがトークンのクォータになります。',
  'finding.token_column': 'キーの列 {key} に対応するものがありません。',
  'finding.token_paths': 'キーは一部のパスだけを呼び出せますが、対応するものがありません。無効になります。',
  'finding.token_not_hashed': 'キーが SHA-256 で保存されていないため、除外されます。',
  'finding.token_ownerless': 'キーはどのユーザーのものでもありません。それを所有し支払うアカウントを作成します。',
  'finding.user_password': 'パスワードの形式が不明なため使用できません。再設定してください。',
  'finding.user_without_budget': '移行元ではユーザーに予算がありません。ここでは残高 {number} になります。',
  'finding.user_period': '予算の更新周期に対応するものがありません。残りが残高になります。',
  'finding.amount_negative': '負の {key} を 0 に設定します。',
  'finding.amount_large': '{max} を超える {key} をその値に下げます。',
  'finding.amount_not_number': '数値ではない {key} を 0 にします。',
  'finding.amount_fraction': '{key} の小数部分を切り捨てます。',
  'finding.status_unreadable': 'ステータスが数値ではありません。この行は無効になります。',
  'finding.expiry_unreadable': '有効期限を読み取れません。この行は無効になります。',
  'finding.deleted_zero_date':
    '削除日時が 0000-00-00 です。移行元はこの行を削除済みとして扱い、インポートも同じように扱います。',
  'finding.user_telegram': 'Telegram ログインに対応するものがありません。',
  'finding.user_discord': 'Discord ログインに対応するものがありません。',
  'finding.user_linux_do': 'LINUX DO ログインに対応するものがありません。',
  'finding.user_second_factor': '二要素認証に対応するものがありません。ユーザーはパスワードだけでログインします。',
  'finding.user_reward': '移行元で残高に移されていない招待の報酬は、ここでは加算されません。',
  'finding.user_remark': 'ユーザーのメモを保存する場所がありません。',
  'finding.user_setting': '個人設定（通知）に対応するものがありません。',
  'finding.user_mcp': 'ユーザーが呼び出せない MCP ツールの一覧に対応するものがありません。',
  'finding.user_metadata': 'ユーザーのその他の設定に対応するものがありません。',
  'finding.user_stripe': 'Stripe の顧客に対応するものがありません。',
  'finding.user_id_taken': 'ユーザーの ID はここで使われています。別の ID になります。',
  'finding.user_name_taken': 'ユーザー名は使われています。末尾に {suffix} が付きます。',
  'finding.user_root_to_admin':
    '移行元ではスーパー管理者ですが、ここでは管理者になります。このシステムのスーパー管理者はそのままです。',
  'finding.user_invitation_taken': '招待コードは使われています。新しいコードになります。',
  'finding.user_access_token_taken': 'アクセストークンはここで別のアカウントのものです。除外されます。',
  'finding.user_known_password':
    'スーパー管理者のパスワードが one-api の初期値です。このシステムのパスワードを維持します。',
  'finding.user_root_access_token':
    'このシステムのスーパー管理者にはアクセストークンがあります。それを維持し、移行元のものは使えません。',
  'finding.user_passwords':
    'LiteLLM のパスワードは使えません。ユーザーにパスワードを設定するか、メールで再設定してもらってください。',
  'finding.user_viewer': '移行元では閲覧のみのユーザーですが、ここでは通常のユーザーになります。',
  'finding.user_column': 'ユーザーの列 {key} に対応するものがありません。',
  'finding.deployment_environment':
    'チャネルが参照する環境変数がここでは設定されていません。キーのないチャネルは無効になります。',
  'finding.deployment_twice': 'デプロイが 2 つあります。1 つを引き継ぎます。',
  'finding.deployment_pattern':
    'デプロイが名前のパターンを使うか、名前がありません。対応するものがないため、モデル名を指定してチャネルを作成してください。',
  'finding.deployment_parameter': 'デプロイのパラメーター {key} に対応するものがありません。',
  'finding.deployment_provider': 'プロバイダー {name} に対応するものがありません。チャネルは無効になります。',
  'finding.litellm_master_key':
    'マスターキーはトークンとして引き継がれません。このシステムのスーパー管理者を使ってください。',
  'finding.litellm_setting': 'LiteLLM の設定に対応するものがありません。',
  'finding.litellm_fallback':
    '移行元では失敗したリクエストが別のモデルで続行されます。仮想モデルとして登録してください。',
  'finding.litellm_alias': '移行元ではモデルに別名があります。仮想モデルまたはチャネルのマッピングに登録してください。',
  'finding.column_unknown': '移行元にこのバージョンが知らない列があります。引き継がれません。',
  'finding.table_truncated': 'このテーブルには数値キーがないため、{max} 行だけを保存します。',
  'finding.table_without_place': 'テーブル {name} に対応するものがありません。',
  'finding.fault_no_logs':
    '{source} に logs テーブルがありません。ログが別のデータベースにある場合は、そのアドレスを指定してください（--logs-from）。',
  'finding.fault_in_use':
    'このシステムにはすでにユーザー、チャネル、またはログがあります。併存させて（--merge）インポートするか、新しいシステムにインポートしてください。',
  'finding.fault_salt_missing':
    'チャネルのキーは暗号化されています。LITELLM_SALT_KEY に LiteLLM の salt key を設定してください。ない場合は LITELLM_MASTER_KEY にマスターキーを設定してください。',
  'finding.fault_salt_wrong':
    'チャネルのキーは別のキーで暗号化されています。LITELLM_SALT_KEY に LiteLLM が使う salt key を設定してください。何も変更されていません。',
  'finding.fault_config_missing': 'ファイル {source} がありません。LiteLLM の config.yaml のパスを確認してください。',
  'finding.fault_config_large': '{source} は大きすぎるため、LiteLLM の設定ではありません。',
  'finding.fault_config_yaml':
    '{source} は有効な YAML ではありません（{reason}）。修正して、もう一度実行してください。',
  'finding.fault_config_form': '{source} は LiteLLM の設定ではありません。model_list がありません。',
  'finding.fault_login': '{source} がユーザー名またはパスワードを拒否しました。アドレスの両方を確認してください。',
  'finding.fault_no_database': '{source} はそのサーバーにありません。アドレスの末尾の名前を確認してください。',
  'finding.fault_unreachable':
    '{source} に接続できません（{reason}）。ホストとポート、およびここからの接続が許可されているかを確認してください。',
  'finding.fault_unreadable':
    '{source} を読み取れません（{reason}）。ユーザーがすべてのテーブルを読み取れることを確認し、もう一度実行してください。続きから再開します。',
  'finding.fault_address_postgres':
    'アドレスが不完全です。形式は postgres://user:password@host:5432/name で、パスワードの特殊文字はパーセントエンコードします。',
  'finding.fault_address_mysql':
    'アドレスが不完全です。形式は mysql://user:password@host:3306/name で、パスワードの特殊文字はパーセントエンコードします。',
  'finding.fault_no_file': 'ファイル {source} がありません。パスを確認してください。',
  'finding.fault_not_file':
    '{source} はファイルではありません。/data/one-api.db のようなデータベースのパスを指定してください。',
  'finding.fault_empty': '{source} は空です。プログラムを停止した状態でデータベースをコピーし直してください。',
  'finding.fault_locked':
    '{source} はプログラムによってロックされています。プログラムを停止するか、ファイルのコピーからインポートしてください。',
  'finding.fault_damaged':
    '{source} を読み取れません（{reason}）。破損しているか、SQLite データベースではありません。プログラムを停止してコピーし直すか、「sqlite3 {path} .recover」で修復してください。',
  'finding.fault_upload_gone': 'アップロードされたファイルはもうありません。もう一度アップロードしてください。',
  'finding.fault_config_elsewhere': '{source} は LiteLLM のデータベースではないため、設定は対応しません。',
  'finding.fault_scheme':
    '{name}:// のアドレスからはインポートできません。postgres://…、mysql://…、または SQLite ファイルのパスを指定してください。',
  'finding.fault_leftovers_line':
    '{line} 行目は残りのデータではありません。インポートが書き出したファイルを指定してください。',
  'finding.fault_own_database':
    '{source} は Tollgate 自身のデータベースです。システムを複製するには、データベースのバックアップを使ってください。',
  'finding.fault_other_program':
    '{source} は one-api、new-api、one-hub、Laisky の one-api、LiteLLM のデータベースではありません。{name} がありません。アドレスを確認してください。',
  'finding.fault_incomplete':
    '{program} のデータベースが不完全です（{reason}）。{name} を一度起動してアップグレードを完了させてから、もう一度インポートしてください。',
  'finding.fault_node_gone':
    'アップロードされたファイル {name} を持つ稼働中のサーバーがありません。もう一度アップロードしてください。',
  'finding.fault_unexpected': 'インポートが予期せず失敗しました：{reason}',
  'finding.fault_host_unknown': 'ホスト {name} が見つかりません。',
  'finding.fault_metadata': 'アドレスにクラウドのメタデータサービスは指定できません。',
  'finding.fault_large_id':
    'テーブル {name} に ID {number} の行がありますが、大きすぎます。移行元でこの行を修正または削除してから、もう一度インポートしてください。',
  'finding.fault_no_id':
    'テーブル {name} に ID のない行、または ID が整数でない行があります。移行元でこの行を修正または削除してから、もう一度インポートしてください。',
  'finding.fault_id_type':
    'テーブル {name} の列 id の型は {reason} で、整数ではありません。移行元で型を変更してから、もう一度インポートしてください。',
  'finding.fault_id_twice':
    'テーブル {name} に ID {number} の行が複数あります。移行元でこれらの行を修正または削除してから、もう一度インポートしてください。',
  'finding.fault_unopened':
    '{source} を開けません（{reason}）。このユーザーがファイルを読み取り、フォルダーに書き込めるか確認してください。プログラムが正常に終了していない場合は、一度起動して停止するか、ファイルとその隣にあるすべてのファイルのコピーからインポートしてください。',
  'finding.fault_full':
    'このインストールのディスクに書き込めません（{reason}）。空き容量を確保してから、もう一度インポートしてください。変更はありません。',
  'finding.fault_lost_commit':
    'このインストールのデータベースへの接続が最後に失われました（{reason}）。もう一度インポートしてください。アカウントが保存されていれば、続きから始まります。その場合は、対応する項目のないデータを含む {name} を保管してください。そうでない場合は削除してください。',
  'finding.fault_full_log':
    'このインストールのディスクに書き込めません（{reason}）。アカウントとログの一部はインポート済みです。空き容量を確保してから、もう一度インポートすると、中断したところから続きます。',
  'finding.fault_full_temporary':
    '一時ファイル用のディスクに書き込めません（{reason}）。空き容量を確保するか、SQLITE_TMPDIR に別のディスクのフォルダーを設定してから、もう一度コマンドを実行してください。',
  'finding.fault_sums':
    '合計が一致しないため、何もインポートされませんでした：{name} は移行元で {there}（補正 {corrected}）、ここでは {here} です。移行元が使用中の場合は、プログラムを停止して、もう一度実行してください。',
} as const satisfies Translation<'finding'>
