import type { Condition, Test } from './condition.ts'
import { holds, holdsInSteps, looksOf } from './evaluate.ts'
import type { Path } from './paths.ts'
import { someValue } from './read.ts'
import type { ReadRoot } from './readRoot.ts'

/** All `eq` comparisons of one path with a text, and the items of each text. */
interface Question<Item> {
  readonly path: Path
  readonly itemsByText: Map<string, Item[]>
}

/**
 * Many conditions that are evaluated together, for one request after the other. The most common ones compare one path
 * with a text: however many there are, that path is read once.
 */
export class ConditionSet<Item> {
  private readonly questions = new Map<string, Question<Item>>()
  private readonly unconditional: Item[] = []
  private readonly others: { readonly condition: Condition; readonly item: Item }[] = []
  private readonly items: readonly Item[]

  constructor(entries: readonly { readonly condition: Condition; readonly item: Item }[]) {
    this.items = entries.map(({ item }) => item)
    for (const { condition, item } of entries) {
      const comparison = textComparison(condition.test)
      if (condition.test.kind === 'always') this.unconditional.push(item)
      else if (comparison === undefined) this.others.push({ condition, item })
      else this.ask(comparison, item)
    }
  }

  /**
   * The items whose conditions hold for a request, in no particular order. If all hold, it is always the same list. If
   * every condition is `{}`, the request is not read.
   */
  holding(root: ReadRoot): readonly Item[] {
    if (this.questions.size === 0 && this.others.length === 0) return this.items
    const found = new Set(this.unconditional)
    for (const question of this.questions.values()) addAnswers(question, root, found)
    for (const { condition, item } of this.others) if (holds(condition, root)) found.add(item)
    return this.listOf(found)
  }

  /**
   * {@link holding} in pieces, as {@link holdsInSteps}: the generator also yields after each path that is compared with
   * texts.
   */
  *holdingInSteps(root: ReadRoot): Generator<void, readonly Item[]> {
    const found = new Set(this.unconditional)
    for (const question of this.questions.values()) {
      addAnswers(question, root, found)
      yield
    }
    for (const { condition, item } of this.others) if (yield* holdsInSteps(condition, root)) found.add(item)
    return this.listOf(found)
  }

  /** Number of comparisons with each value that the paths find: {@link looksOf}, for the whole set. */
  get looks(): number {
    return this.others.reduce((sum, { condition }) => sum + looksOf(condition), this.questions.size)
  }

  private listOf(found: ReadonlySet<Item>): readonly Item[] {
    return found.size === this.items.length ? this.items : [...found]
  }

  private ask({ path, text }: { path: Path; text: string }, item: Item): void {
    const question = this.questions.get(path.text) ?? { path, itemsByText: new Map<string, Item[]>() }
    this.questions.set(path.text, question)
    const items = question.itemsByText.get(text) ?? []
    question.itemsByText.set(text, items)
    items.push(item)
  }
}

function addAnswers<Item>({ path, itemsByText }: Question<Item>, root: ReadRoot, found: Set<Item>): void {
  someValue(root, path, (value) => {
    if (typeof value === 'string') for (const item of itemsByText.get(value) ?? []) found.add(item)
    return false
  })
}

/** The comparison of a condition that is one `eq` with a text. A single leaf is stored as a group of one. */
function textComparison(test: Test): { path: Path; text: string } | undefined {
  if (test.kind === 'all' || test.kind === 'any') {
    const [only, ...others] = test.tests
    return only === undefined || others.length > 0 ? undefined : textComparison(only)
  }
  if (test.kind !== 'leaf' || test.op !== 'eq' || test.ignoreCase) return undefined
  return typeof test.value === 'string' ? { path: test.path, text: test.value } : undefined
}
