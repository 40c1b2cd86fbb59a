import type { Translation } from './namespaces.ts'

export const resetJa = {
  'reset.title': 'パスワードの再設定',
  'reset.text': 'アカウントのメールアドレスを入力してください。パスワードを再設定するためのリンクをお送りします。',
  'reset.email': 'メールアドレス',
  'reset.submit': '再設定メールを送信',
  'reset.wait': '再試行（{seconds}）',
  'reset.done': '再設定メールを送信しました。メールを確認してください。',
  'reset.done.text':
    'このアドレスを使うアカウントがあれば、まもなくメールが届きます。リンクは 1 回だけ使え、短時間で無効になります。届かない場合は、迷惑メールフォルダーを確認するか、もう一度お試しください。',
  'reset.back': 'ログインに戻る',
  'reset.confirm.title': 'パスワード再設定の確認',
  'reset.confirm.text':
    '新しいパスワードを発行します。古いパスワードは使えなくなり、開いているセッションはすべて終了します。',
  'reset.confirm.submit': 'パスワードを再設定',
  'reset.confirm.password': '新しいパスワード',
  'reset.confirm.copied': '新しいパスワードをクリップボードにコピーしました：{password}',
  'reset.confirm.made': '新しいパスワードです。二度と表示されないため、今すぐ保存してください。',
  'reset.confirm.login': 'ログイン',
  'reset.confirm.dead': 'このリンクは不完全です',
  'reset.confirm.dead.text': 'メールのリンクをもう一度開くか、新しいリンクを取得してください。',
  'reset.confirm.again': '新しいリンクを取得',
} as const satisfies Translation<'reset'>
