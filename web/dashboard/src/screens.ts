// The screens: where each is, what it needs, and how the menu calls it. Those of one kind are a file that is fetched when one is
// opened. README.md says how to add one.

import type { ComponentType } from 'preact'
import type { Permission } from './api/roles.ts'
import type { Glyph } from './parts/icon.tsx'
import { t } from './texts/t.ts'

export interface Screen {
  /** Below the mode; parts with a colon become properties of the component. */
  path: string
  load: () => Promise<{ default: ComponentType<never> }>
  needs?: Permission
  /** For operators of the server alone. */
  isOperators?: boolean
  menu?: {
    label: string
    glyph: Glyph
    /** What one works with, what one sets up, what is one's own. */
    group: 'work' | 'setup' | 'own'
    /** `g` and then this key. */
    key?: string
    /** Among the five at the lower edge of a phone. */
    isTab?: boolean
  }
}

export const screens: Screen[] = [
  {
    path: '/',
    load: () => import('./screens/home/home.tsx'),
    needs: 'read',
    menu: { label: t.nav.home, glyph: 'home', group: 'work', key: 'h', isTab: true },
  },
  { path: '/welcome', load: () => import('./screens/enter/welcome.tsx') },
  {
    path: '/invoices',
    load: () => import('./screens/invoices/invoices.tsx'),
    needs: 'read',
    menu: { label: t.invoices.title, glyph: 'doc', group: 'work', key: 'i', isTab: true },
  },
  { path: '/invoices/new', load: () => import('./screens/invoices/new.tsx'), needs: 'sales.write' },
  { path: '/invoices/:id', load: () => import('./screens/invoices/invoice.tsx'), needs: 'read' },
  {
    path: '/payments',
    load: () => import('./screens/payments/payments.tsx'),
    needs: 'read',
    menu: { label: t.payments.title, glyph: 'pay', group: 'work', key: 'p' },
  },
  { path: '/payments/unattributed', load: () => import('./screens/payments/unattributed.tsx'), needs: 'read' },
  {
    path: '/reviews',
    load: () => import('./screens/reviews/reviews.tsx'),
    needs: 'read',
    menu: { label: t.reviews.title, glyph: 'eye', group: 'work', key: 'v' },
  },
  { path: '/reviews/:id', load: () => import('./screens/reviews/review.tsx'), needs: 'read' },
  {
    path: '/refunds',
    load: () => import('./screens/refunds/refunds.tsx'),
    needs: 'read',
    menu: { label: t.nav.refunds, glyph: 'back', group: 'work', key: 'r', isTab: true },
  },
  { path: '/refunds/new', load: () => import('./screens/refunds/new.tsx'), needs: 'refunds.write' },
  { path: '/refunds/:id', load: () => import('./screens/refunds/refund.tsx'), needs: 'read' },
  {
    path: '/links',
    load: () => import('./screens/links/links.tsx'),
    needs: 'read',
    menu: { label: t.nav.links, glyph: 'link', group: 'work', key: 'l' },
  },
  { path: '/links/new', load: () => import('./screens/links/new.tsx'), needs: 'sales.write' },
  { path: '/links/:id', load: () => import('./screens/links/link.tsx'), needs: 'read' },
  { path: '/links/:id/edit', load: () => import('./screens/links/change.tsx'), needs: 'sales.write' },
  { path: '/links/:id/poster', load: () => import('./screens/links/poster.tsx'), needs: 'read' },
  {
    path: '/customers',
    load: () => import('./screens/customers/customers.tsx'),
    needs: 'read',
    menu: { label: t.nav.customers, glyph: 'people', group: 'work', key: 'c' },
  },
  { path: '/customers/new', load: () => import('./screens/customers/new.tsx'), needs: 'sales.write' },
  { path: '/customers/:id', load: () => import('./screens/customers/customer.tsx'), needs: 'read' },
  {
    path: '/plans',
    load: () => import('./screens/plans/plans.tsx'),
    needs: 'read',
    menu: { label: t.nav.plans, glyph: 'calendar', group: 'work' },
  },
  { path: '/plans/new', load: () => import('./screens/plans/new.tsx'), needs: 'sales.write' },
  { path: '/plans/:id', load: () => import('./screens/plans/plan.tsx'), needs: 'read' },
  {
    path: '/subscriptions',
    load: () => import('./screens/subscriptions/subscriptions.tsx'),
    needs: 'read',
    menu: { label: t.nav.subscriptions, glyph: 'loop', group: 'work', key: 's' },
  },
  { path: '/subscriptions/new', load: () => import('./screens/subscriptions/new.tsx'), needs: 'sales.write' },
  { path: '/subscriptions/:id', load: () => import('./screens/subscriptions/subscription.tsx'), needs: 'read' },
  {
    path: '/reconciliation',
    load: () => import('./screens/reconciliation/reconciliation.tsx'),
    needs: 'read',
    menu: { label: t.nav.reconciliation, glyph: 'scale', group: 'work', key: 'b' },
  },
  { path: '/reconciliation/course', load: () => import('./screens/reconciliation/course.tsx'), needs: 'read' },
  { path: '/reconciliation/digests', load: () => import('./screens/reconciliation/digests.tsx'), needs: 'audit.read' },
  {
    path: '/developers',
    load: () => import('./screens/developers/deliveries.tsx'),
    needs: 'read',
    menu: { label: t.setup.developers, glyph: 'code', group: 'setup', key: 'd', isTab: true },
  },
  { path: '/developers/keys', load: () => import('./screens/developers/keys.tsx'), needs: 'keys.read' },
  { path: '/developers/webhooks', load: () => import('./screens/developers/webhooks.tsx'), needs: 'read' },
  { path: '/developers/requests', load: () => import('./screens/developers/builder.tsx'), needs: 'read' },
  { path: '/developers/events/:id', load: () => import('./screens/developers/event.tsx'), needs: 'read' },
  {
    path: '/destinations',
    load: () => import('./screens/destinations/destinations.tsx'),
    needs: 'read',
    menu: { label: t.setup.destinations, glyph: 'pin', group: 'setup' },
  },
  { path: '/destinations/:family', load: () => import('./screens/destinations/destination.tsx'), needs: 'read' },
  {
    path: '/team',
    load: () => import('./screens/team/team.tsx'),
    needs: 'read',
    menu: { label: t.setup.team, glyph: 'people', group: 'setup' },
  },
  {
    path: '/settings',
    load: () => import('./screens/settings/settings.tsx'),
    needs: 'read',
    menu: { label: t.setup.settings, glyph: 'gear', group: 'setup' },
  },
  {
    path: '/audit',
    load: () => import('./screens/audit/audit.tsx'),
    needs: 'audit.read',
    menu: { label: t.setup.audit, glyph: 'eye', group: 'setup' },
  },
  {
    path: '/notices',
    load: () => import('./screens/notices/notices.tsx'),
    menu: { label: t.setup.notices, glyph: 'bell', group: 'own' },
  },
  {
    path: '/security',
    load: () => import('./screens/security/security.tsx'),
    menu: { label: t.setup.security, glyph: 'shield', group: 'own' },
  },
  {
    path: '/application',
    load: () => import('./screens/application/application.tsx'),
    needs: 'audit.read',
    menu: { label: t.setup.application, glyph: 'bolt', group: 'setup' },
  },
  {
    path: '/operator',
    load: () => import('./screens/operator/applications.tsx'),
    isOperators: true,
    menu: { label: t.setup.operator, glyph: 'server', group: 'own' },
  },
  { path: '/operator/applications/:id', load: () => import('./screens/operator/application.tsx'), isOperators: true },
  { path: '/operator/organizations', load: () => import('./screens/operator/organizations.tsx'), isOperators: true },
  { path: '/operator/server', load: () => import('./screens/operator/server.tsx'), isOperators: true },
]
