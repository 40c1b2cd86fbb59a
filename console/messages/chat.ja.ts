import type { Translation } from './namespaces.ts'

export const chatJa = {
  'chat.title': 'チャット',
  'chat.frame': 'チャットアプリ',
  'chat.none': 'チャットのリンクが設定されていません',
  'chat.none.text': 'プレイグラウンドでは、トークンで利用できるすべてのモデルとチャットできます。',
  'chat.none.admin': '設定でチャットアプリの URL を指定するか、プレイグラウンドを利用してください。',
  'chat.playground': 'プレイグラウンドを開く',
  'chat.settings': 'チャットのリンクを設定',
  'chat.newWindow': '新しいウィンドウで開く',
} as const satisfies Translation<'chat'>
