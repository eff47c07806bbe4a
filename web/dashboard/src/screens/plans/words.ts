// A plan in words.

import type { Plan } from '#shared/api/types.ts'
import { grouped } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

/** `9.00 USD every month`. */
export const priceOf = (plan: Plan) => t.plans.priceEvery(grouped(plan.amount), plan.currency, everyOf(plan))

export const everyOf = (plan: Plan) => t.plans.every(plan.interval_count, plan.interval)
