// The texts of the page's language for the screens where things are set up.

import { enSetup, type SetupTexts } from './en.ts'

export const setup: SetupTexts = enSetup
