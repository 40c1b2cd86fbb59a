/** Texts of the chat page. */
export const chatEn = {
  'chat.title': 'chat',
  'chat.frame': 'Chat app',
  'chat.none': 'No chat link is set',
  'chat.none.text': 'In the playground, you can chat with every model available to your tokens.',
  'chat.none.admin': 'Set the URL of a chat app in the settings, or use the playground.',
  'chat.playground': 'Open the playground',
  'chat.settings': 'Set chat link',
  'chat.newWindow': 'Open in a new window',
} as const
