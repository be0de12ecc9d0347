import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { SyntaxNode } from '@lezer/common'
import { membersOf, type Schema, schemasAt, valuesOf } from './jsonSchema.ts'
import { nameOf, pathTo } from './pointers.ts'

/**
 * Completes names and values from a JSON Schema, and paths (`body.…`) from captures.
 *
 * @param about called at each completion, since both may load after the editor
 */
export function jsonCompletion(
  about: () => { schema: Schema | undefined; paths: readonly string[] },
): CompletionSource {
  return (context) => {
    const { schema, paths } = about()
    const word = context.matchBefore(/"[^"\n]*/) ?? context.matchBefore(/[\w.-]*/)
    if (word === null || (word.from === word.to && !context.explicit)) return null
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const place = placeOf(node)
    if (place === undefined) return null
    const result = (options: CompletionResult['options']): CompletionResult => ({
      from: word.from,
      options,
      validFor: /^"?[^"\n]*$/,
    })
    if (place.isName) return result(nameOptions(context, place.holder, schema))
    const values = schema === undefined ? [] : valuesOf(schemasAt(schema, pathTo(context.state, node)))
    const isPath = word.text.startsWith('"b') || word.text.startsWith('"h') || word.text.startsWith('"q')
    return result([
      ...values.map((value) => ({ label: JSON.stringify(value), type: 'enum' })),
      ...(isPath || context.explicit
        ? paths.map((path) => ({ label: JSON.stringify(path), type: 'variable' }))
        : []),
    ])
  }
}

/** The object around the cursor, and whether a name is expected there. */
function placeOf(node: SyntaxNode): { holder: SyntaxNode; isName: boolean } | undefined {
  if (node.name === 'PropertyName' && node.parent?.parent != null)
    return { holder: node.parent.parent, isName: true }
  if (node.name === 'Object' || node.name === '{')
    return { holder: node.name === '{' && node.parent !== null ? node.parent : node, isName: true }
  if (node.parent?.name === 'Object' && node.name === '⚠') return { holder: node.parent, isName: true }
  return { holder: node, isName: false }
}

function nameOptions({ state }: CompletionContext, holder: SyntaxNode, schema: Schema | undefined) {
  if (schema === undefined) return []
  const taken = new Set(
    holder.getChildren('Property').flatMap((one) => {
      const name = one.getChild('PropertyName')
      return name === null ? [] : [nameOf(state, name)]
    }),
  )
  return [...membersOf(schemasAt(schema, pathTo(state, holder)))]
    .filter(([name]) => !taken.has(name))
    .map(([name, info]) => ({
      label: JSON.stringify(name),
      apply: `${JSON.stringify(name)}: `,
      type: 'property',
      info,
    }))
}
