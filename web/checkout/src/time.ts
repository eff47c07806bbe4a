import { span } from '#shared/time.ts'
import { t } from './words/words.ts'

/** How long until then. */
export const left = (ms: number) => t('pay.left', { time: span(ms) })
