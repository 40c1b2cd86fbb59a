/** Texts of the about page. */
export const aboutEn = {
  'about.title': 'about',
  'about.failed': 'failed to load about content…',
  'about.text':
    'A gateway to the models of many providers: one address, one key, exact charges. Programs written for the OpenAI API call it unchanged.',
  'about.version': 'Version',
  'about.started': 'Running since',
  'about.compatible': 'Works with consoles and scripts that were written for one-api.',
  'about.licence': 'Licence',
  'about.licence.text': 'MIT. The packages it is built from keep their own licences.',
  'about.docs': 'API reference',
  'about.admin': 'Nothing has been written for this page yet. Administrators can do that in the settings.',
  'about.write': 'Write the about page',
} as const
