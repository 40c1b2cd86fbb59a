/** Texts of the chat page. */
export const chatEn = {
  'chat.title': 'chat',
  'chat.frame': 'Chat application',
  'chat.none': 'no chat link is set',
  'chat.none.text': 'The playground talks to every model that your tokens may use.',
  'chat.none.admin': 'Set the address of a chat application in the settings, or use the playground.',
  'chat.playground': 'Open the playground',
  'chat.settings': 'Set a chat link',
  'chat.newWindow': 'Open in a new window',
} as const
