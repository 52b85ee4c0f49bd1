import { z } from 'zod'
import { LOG_LEVELS } from './full-request.js'

const texts = z.record(z.string(), z.string())

/**
 * Parameters of the methods, as far as they are read. The protocol library checks them as well, but
 * reports what it refuses as a fault of the server.
 */
export const requestParams = {
  list: z.object({ cursor: z.string().optional() }),
  call: z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
  resource: z.object({ uri: z.string() }),
  prompt: z.object({ name: z.string(), arguments: texts.optional() }),
  completion: z.object({
    ref: z.discriminatedUnion('type', [
      z.object({ type: z.literal('ref/prompt'), name: z.string() }),
      z.object({ type: z.literal('ref/resource'), uri: z.string() }),
    ]),
    argument: z.object({ name: z.string(), value: z.string() }),
    context: z.object({ arguments: texts.optional() }).optional(),
  }),
  level: z.object({ level: z.enum(LOG_LEVELS) }),
} as const
