// A payment that was seen and left the network again. It may come back: whoever sends once more pays twice.

import { Icon } from '#shared/parts/icon.tsx'
import { t } from '../words/words.ts'

export function Gone() {
  return (
    <p class="strip" role="alert">
      <Icon name="alert" />
      {t('help.taken_away')}
    </p>
  )
}
