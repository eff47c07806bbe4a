import { Tabs } from '../../parts/list.tsx'
import { t } from '../../texts/t.ts'

export const PaymentTabs = () => (
  <Tabs
    label={t.payments.title}
    tabs={[
      { to: '/payments', label: t.payments.attributed },
      { to: '/payments/unattributed', label: t.deposits.title },
    ]}
  />
)
