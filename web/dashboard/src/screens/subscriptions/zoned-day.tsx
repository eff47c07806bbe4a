import { dayInZone, inZone } from './zone.ts'

/** The day where the plan is billed; the moment and the zone on pointing at it. */
export const ZonedDay = ({ at, zone }: { at: string; zone: string }) => (
  <time class="nowrap" dateTime={at} title={inZone(at, zone)}>
    {dayInZone(at, zone)}
  </time>
)
