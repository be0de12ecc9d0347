import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { SyntaxNode } from '@lezer/common'

export interface Range {
  readonly from: number
  readonly to: number
}

/**
 * The range of the value at a JSON Pointer (`#/steps/0/op`). If there is no such value, the range of its nearest
 * ancestor.
 */
export function rangeOfPointer(state: EditorState, pointer: string): Range {
  const segments = pointer
    .replace(/^#/, '')
    .split('/')
    .slice(1)
    .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'))
  let node: SyntaxNode | null = syntaxTree(state).topNode.firstChild
  let best: Range = { from: 0, to: Math.min(1, state.doc.length) }
  if (node !== null) best = { from: node.from, to: Math.min(node.to, node.from + 1) }
  for (const segment of segments) {
    const child: SyntaxNode | null = node === null ? null : childOf(state, node, segment)
    if (child === null) return best
    node = child
    best = { from: child.from, to: child.to }
  }
  return best
}

function childOf(state: EditorState, node: SyntaxNode, segment: string): SyntaxNode | null {
  if (node.name === 'Array') return elementsOf(node).find((_, index) => String(index) === segment) ?? null
  for (const member of node.getChildren('Property')) {
    const name = member.getChild('PropertyName')
    if (name !== null && nameOf(state, name) === segment)
      return name.nextSibling?.nextSibling ?? member.lastChild
  }
  return null
}

/** The elements of an array, without its punctuation. */
function elementsOf({ firstChild }: SyntaxNode): SyntaxNode[] {
  const elements: SyntaxNode[] = []
  for (let at = firstChild; at !== null; at = at.nextSibling) {
    if (!['[', ']', ','].includes(at.name)) elements.push(at)
  }
  return elements
}

/** The name of a property node. */
export function nameOf(state: EditorState, node: SyntaxNode): string {
  const text = state.sliceDoc(node.from, node.to)
  try {
    return String(JSON.parse(text))
  } catch {
    return text.replaceAll('"', '')
  }
}

/** The names and indexes from the top to a node. */
export function pathTo(state: EditorState, node: SyntaxNode): (string | number)[] {
  const path: (string | number)[] = []
  for (let at: SyntaxNode | null = node; at?.parent != null; at = at.parent) {
    if (at.name === 'Property') {
      const name = at.getChild('PropertyName')
      if (name !== null) path.unshift(nameOf(state, name))
    } else if (at.parent.name === 'Array') {
      const { from } = at
      path.unshift(elementsOf(at.parent).filter((one) => one.from < from).length)
    }
  }
  return path
}
