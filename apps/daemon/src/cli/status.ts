import { z } from 'zod'
import type { DaemonClient } from './client.js'

const readiness = z.looseObject({
  ok: z.boolean(),
  checks: z
    .array(z.object({ name: z.string(), ok: z.boolean(), error: z.string().nullable() }))
    .default([]),
  warnings: z.array(z.string()).default([]),
})
const version = z.looseObject({
  version: z.string(),
  features: z.record(z.string(), z.boolean()),
  embedder: z.looseObject({ id: z.string().nullable() }),
})

/** How a daemon does. */
export type Status = z.output<typeof readiness> & { readonly version: z.output<typeof version> }

/** Ask a daemon how it does. */
export async function readStatus(client: DaemonClient): Promise<Status> {
  const ready = await client.json({ method: 'GET', path: '/readyz', accept: [503] }, readiness)
  return { ...ready, version: await client.json({ method: 'GET', path: '/v1/version' }, version) }
}

/** A status for people. */
export function statusText(status: Status, url: string): string {
  const { features, embedder } = status.version
  const on = Object.keys(features).filter((name) => features[name] === true)
  const lines = [
    `corecruxd ${status.version.version} at ${url}: ${status.ok ? 'ready' : 'NOT ready'}`,
    `  features: ${on.join(', ') || 'none'}`,
    `  embedder: ${embedder.id ?? 'none'}`,
    ...status.checks.filter(({ ok }) => !ok).map(({ name, error }) => `  FAILED ${name}: ${error}`),
    ...status.warnings.map((warning) => `  warning: ${warning}`),
  ]
  return `${lines.join('\n')}\n`
}
