import type { Translation } from './namespaces.ts'

export const chatZh = {
  'chat.title': '聊天',
  'chat.frame': '聊天应用',
  'chat.none': '尚未设置聊天链接',
  'chat.none.text': '可以在操练场与你的令牌可用的所有模型对话。',
  'chat.none.admin': '请在设置中填写聊天应用的地址，或使用操练场。',
  'chat.playground': '打开操练场',
  'chat.settings': '设置聊天链接',
  'chat.newWindow': '在新窗口中打开',
} as const satisfies Translation<'chat'>
