import type { Translation } from './namespaces.ts'

export const registerJa = {
  'register.title': 'アカウント登録',
  'register.username': 'ユーザー名',
  'register.username.placeholder': '12 文字以内',
  'register.password': 'パスワード',
  'register.password.placeholder': '8～20 文字',
  'register.password2': 'パスワード（確認）',
  'register.email': 'メールアドレス',
  'register.code': '確認コード',
  'register.submit': '登録',
  'register.done': '登録が完了しました。',
  'register.tooShort': 'パスワードは 8 文字以上にしてください。',
  'register.mismatch': '入力した 2 つのパスワードが一致しません',
  'register.codeSent': '確認コードを送信しました。メールを確認してください。',
  'register.haveAccount': 'アカウントをお持ちの場合：',
  'register.login': 'ログイン',
  'register.invited': '招待されています',
  'register.common': 'このパスワードはよく使われています。安全のため、別のパスワードを選んでください。',
  'register.closed': 'アカウント登録は受け付けていません。',
  'register.refused': '登録できませんでした',
} as const satisfies Translation<'register'>
