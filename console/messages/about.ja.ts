import type { Translation } from './namespaces.ts'

export const aboutJa = {
  'about.title': 'このサイトについて',
  'about.failed': 'このサイトについての内容を読み込めませんでした…',
  'about.text':
    '多数のプロバイダーのモデルに、1 つのゲートウェイから。1 つの URL、1 つのキー、正確な課金。OpenAI API 向けのアプリをそのまま利用できます。',
  'about.version': 'バージョン',
  'about.started': '起動日時',
  'about.compatible': 'one-api 向けのコンソールやスクリプトと互換性があります。',
  'about.licence': 'ライセンス',
  'about.licence.text': 'MIT。同梱パッケージにはそれぞれのライセンスが適用されます。',
  'about.docs': 'API リファレンス',
  'about.admin': 'このページにはまだ内容がありません。管理者は設定で追加できます。',
  'about.write': 'このページを編集',
} as const satisfies Translation<'about'>
