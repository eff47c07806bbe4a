// The texts of the page's language for the screens where things are set up.

import { enSetup } from './en-setup.ts'

export const setup = enSetup
