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
