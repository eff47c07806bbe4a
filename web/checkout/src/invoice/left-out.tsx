// A name or a description held something like an address. It is not shown, and the payer is told whom not to believe.

import { Note } from '#shared/parts/state.tsx'
import { t } from '../words/words.ts'

export const LeftOut = () => <Note tone="warn">{t('help.left_out')}</Note>
