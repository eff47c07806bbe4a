// A payment that was seen and left the network again. It may come back: whoever sends once more pays twice.

import { Note } from '../parts/state.tsx'
import { t } from '../words/words.ts'

export function Gone() {
  return (
    <div role="alert">
      <Note tone="warn">{t('help.taken_away')}</Note>
    </div>
  )
}
