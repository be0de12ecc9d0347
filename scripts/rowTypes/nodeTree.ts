/**
 * Reader for the text of PostgreSQL's parsed statements (`pg_node_tree`): `{VAR :varno 1 :varattno 2 …}`, lists in
 * parentheses, `<>` for nothing, and sets such as `(b 1 2)`.
 */

export interface TreeNode {
  readonly tag: string
  readonly fields: ReadonlyMap<string, Tree>
}

/** A node, a list, a word, or nothing. */
export type Tree = TreeNode | readonly Tree[] | string | null

/** Separators are tokens of their own; a backslash takes the next character as it is. */
const TOKEN = /[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/g

export function parseTree(text: string): Tree {
  const tokens = text.match(TOKEN) ?? []
  let at = 0
  const next = (): string => {
    const token = tokens[at]
    if (token === undefined) throw new Error('The tree of a statement ends too early.')
    at += 1
    return token
  }
  const list = (): Tree[] => {
    const items: Tree[] = []
    while (tokens[at] !== ')') items.push(value())
    at += 1
    return items
  }
  const node = (): TreeNode => {
    const tag = next()
    const fields = new Map<string, Tree>()
    while (tokens[at] !== '}') {
      const name = next().slice(1)
      const values: Tree[] = []
      // A datum has several tokens, e.g. `4 [ 1 0 0 0 ]`.
      while (tokens[at] !== '}' && tokens[at]?.startsWith(':') !== true) values.push(value())
      fields.set(name, values.length === 1 ? (values[0] ?? null) : values)
    }
    at += 1
    return { tag, fields }
  }
  const value = (): Tree => {
    const token = next()
    if (token === '{') return node()
    if (token === '(') return list()
    if (token === '<>') return null
    return token.replaceAll(/\\([\s\S])/g, '$1')
  }
  return value()
}

/** A field that is a node, or undefined. */
export function nodeIn(node: TreeNode, name: string): TreeNode | undefined {
  const value = node.fields.get(name)
  return isNode(value) ? value : undefined
}

/** The nodes of a field that is a list; none if it is nothing. */
export function nodesIn(node: TreeNode, name: string): TreeNode[] {
  const value = node.fields.get(name)
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** A field that is a word; empty if it is anything else. */
export function wordIn(node: TreeNode, name: string): string {
  const value = node.fields.get(name)
  return typeof value === 'string' ? value : ''
}

/** A field that is a number; 0 if it is anything else. */
export function numberIn(node: TreeNode, name: string): number {
  return Number(wordIn(node, name)) || 0
}

/** The first node with this tag, in the order of the text. */
export function findNode(tree: Tree, tag: string): TreeNode | undefined {
  if (tree === null || typeof tree === 'string') return undefined
  if (isNode(tree)) return tree.tag === tag ? tree : findNode([...tree.fields.values()], tag)
  for (const item of tree) {
    const found = findNode(item, tag)
    if (found !== undefined) return found
  }
  return undefined
}

function isNode(tree: Tree | undefined): tree is TreeNode {
  return typeof tree === 'object' && tree !== null && 'tag' in tree
}
