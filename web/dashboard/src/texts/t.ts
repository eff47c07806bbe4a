// The texts in the language of the page. There is one so far.

import { en, type Texts } from './en.ts'

export const t: Texts = en
