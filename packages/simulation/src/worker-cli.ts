/** One of several processes that run histories: told which over its channel, it tells there what came of each. */

import { Teller } from './jobs/told.js'
import { partsFrom } from './run/parts.js'
import type { Plan } from './run/plan.js'
import { Rejections } from './run/rejections.js'

const [sources, story] = process.argv.slice(2)
const rejections = new Rejections()
rejections.watch()
process.on('disconnect', () => process.exit())
const teller = partsFrom(sources).then((parts) => new Teller({ parts, rejections, story: story === 'story' }))

process.on('message', (plan: Plan) => {
  teller
    .then((its) => its.tell(plan))
    .then((told) => process.send?.(told))
    .catch((fault: unknown) => {
      console.error(fault)
      process.exit(1)
    })
})
