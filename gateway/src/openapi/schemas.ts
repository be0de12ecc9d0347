import { z } from 'zod'

/** Turns zod schemas into JSON Schema, and collects the named ones for `components/schemas`. */
export interface Schemas {
  /**
   * The schema in OpenAPI's form: named parts move to the components and are referenced.
   *
   * @throws Error when two different schemas have one name
   */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonObject
  readonly components: JsonObject
}

/** Creates an empty collection. Collections share nothing. */
export function createSchemas(): Schemas {
  const components: Record<string, JsonObject> = {}
  const add = (name: string, schema: JsonObject) => {
    const known = components[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two different schemas are named ${name}.`)
    }
    components[name] = schema
  }
  const addAll = (definitions: Json | undefined) => {
    for (const [name, definition] of Object.entries(isObject(definitions) ? definitions : {})) {
      if (!isObject(definition)) continue
      // A schema from another library contains its own named parts.
      const { $defs, id: _id, ...schema } = definition
      addAll($defs)
      add(name, schema)
    }
  }
  return {
    of(schema, io) {
      const made: unknown = z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        target: 'draft-2020-12',
        // Members may be added within v1: a client must not refuse them.
        override: ({ zodSchema, jsonSchema }) => {
          const isObjectSchema = zodSchema._zod.def.type === 'object'
          if (io === 'output' && isObjectSchema && jsonSchema.additionalProperties === false)
            delete jsonSchema.additionalProperties
        },
      })
      const root = referringToComponents(JSON.parse(JSON.stringify(made)))
      if (!isObject(root)) return {}
      const { $defs, $schema: _dialect, ...rest } = root
      addAll($defs)
      if (typeof rest.id !== 'string') return rest
      addAll({ [rest.id]: rest })
      return { $ref: `#/components/schemas/${rest.id}` }
    },
    get components() {
      return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

function referringToComponents(value: Json): Json {
  if (Array.isArray(value)) return value.map(referringToComponents)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      // effect gives some schemas an $id of their own, which would change the base of references.
      .filter(([name, member]) => name !== '$id' || typeof member !== 'string')
      .map(([name, member]) =>
        name === '$ref' && typeof member === 'string'
          ? [name, member.replace('#/$defs/', '#/components/schemas/')]
          : [name, referringToComponents(member)],
      ),
  )
}

const isNull = (member: Json) => isObject(member) && member.type === 'null'

/** Whether null is one of several answers. Then the route may answer 204. */
export function admitsNull(schema: JsonObject): boolean {
  return schema.type === 'null' || (Array.isArray(schema.anyOf) && schema.anyOf.some(isNull))
}

/** The schema without its null, which is an omitted member of an input, or an answer 204. */
export function withoutNull(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const members = anyOf.filter((member) => !isNull(member))
  const only = members[0]
  return members.length === 1 && isObject(only) ? { ...only, ...rest } : { ...rest, anyOf: members }
}

/** A value that JSON can hold. Absent members are not part of it: {@link defined} leaves them out. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A JSON object: a schema, or any other part of the description. */
export type JsonObject = { readonly [name: string]: Json }

/** True for objects only: not for null, arrays or absent values. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object without its absent members. */
export function defined(members: { readonly [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => (member === undefined ? [] : [[name, member]])),
  )
}
