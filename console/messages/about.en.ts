/** Texts of the about page. */
export const aboutEn = {
  'about.title': 'about',
  'about.failed': 'failed to load about content…',
  'about.text':
    'One gateway to models from many providers: one URL, one key, exact billing. Apps written for the OpenAI API work unchanged.',
  'about.version': 'Version',
  'about.started': 'Running since',
  'about.compatible': 'Works with consoles and scripts written for one-api.',
  'about.licence': 'License',
  'about.licence.text': 'MIT. Bundled packages keep their own licenses.',
  'about.docs': 'API reference',
  'about.admin': 'This page has no content yet. Administrators can add some in the settings.',
  'about.write': 'Edit about page',
} as const
