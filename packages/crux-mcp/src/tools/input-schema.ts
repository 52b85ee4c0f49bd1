import { z } from 'zod'

/** JSON Schema of a tool's arguments. */
export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

/**
 * The JSON Schema of a tool's arguments: a plain flat object without references, so that every
 * known client accepts it.
 */
export function inputSchemaOf(input: z.ZodObject): InputSchema {
  const schema = z.toJSONSchema(input, {
    io: 'input',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties
      delete jsonSchema.propertyNames
      // Zod bounds every integer by what a double holds exactly.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return {
    type: 'object',
    // No field is a boolean schema, which the general type allows.
    properties: (schema.properties ?? {}) as Record<string, object>,
    required: schema.required ?? [],
  }
}
