import { describe, expect, test } from 'bun:test'
import type { Sender } from '../evaluationTurns.ts'
import { type Place, WaitingAnswers } from './waitingAnswers.ts'

const MIB = 1024 * 1024

const of = (workspaceId: string, endpointId = `endpoint of ${workspaceId}`) => ({ workspaceId, endpointId })

/** Takes places until there is none. */
function fill(waiting: WaitingAnswers, holder: ReturnType<typeof of>, bytes = 0): Place[] {
  const places: Place[] = []
  for (;;) {
    const place = waiting.enter(holder, bytes)
    if (place === undefined) return places
    places.push(place)
  }
}

/** A sender whose connection changes on command. */
function sender() {
  let peer: Sender['peer'] = 'open'
  let listener = () => {}
  return {
    get peer() {
      return peer
    },
    onHangUp(given: () => void) {
      listener = given
    },
    become(next: Sender['peer']) {
      peer = next
      listener()
    },
  }
}

describe('places of answers that wait', () => {
  test('are at most as many for a workspace as it leaves free', () => {
    const waiting = new WaitingAnswers(16)
    const [ofA, ofB, ofC] = ['a', 'b', 'c'].map((id) => fill(waiting, of(id)))
    expect([ofA?.length, ofB?.length, ofC?.length]).toEqual([8, 4, 2])
    for (const place of ofA ?? []) place.leave()
    expect(fill(waiting, of('d')).length).toBe(5)
  })

  test('are at most 2,000 for an endpoint', () => {
    const waiting = new WaitingAnswers(1_000_000)
    expect(fill(waiting, of('a', 'one')).length).toBe(2000)
    expect(fill(waiting, of('a', 'other')).length).toBe(2000)
  })

  test('hold at most 64 MiB of bodies, and answers without one find places beside them', () => {
    const waiting = new WaitingAnswers(1_000_000)
    expect(fill(waiting, of('a'), MIB).length).toBe(32)
    expect(fill(waiting, of('b'), MIB).length).toBe(16)
    expect(waiting.enter(of('a'), 0)).toBeDefined()
  })

  test('are given back once', () => {
    const waiting = new WaitingAnswers(4)
    const [place] = fill(waiting, of('a'), 5)
    place?.leave()
    place?.leave()
    expect(fill(waiting, of('a'), 5).length).toBe(1)
  })

  test('of senders that have half-closed are for others of their workspace, the oldest first', () => {
    const waiting = new WaitingAnswers(8)
    const senders = Array.from({ length: 4 }, sender)
    const places = fill(waiting, of('a'))
    for (const [index, place] of places.entries()) {
      const following = senders[index]
      if (following !== undefined) place.follow(following)
    }
    senders[2]?.become('half-closed')
    senders[1]?.become('half-closed')
    expect(fill(waiting, of('a', 'another')).length).toBe(2)
    expect(places.map(({ ended }) => ended.aborted)).toEqual([false, true, true, false])
    senders[0]?.become('gone')
    expect(places[0]?.ended.reason).toBe('sender_gone')
  })

  test('of an endpoint with 2,000 go to others of the same endpoint only', () => {
    const waiting = new WaitingAnswers(1_000_000)
    const [ofOther, ofSame] = [sender(), sender()]
    waiting.enter(of('a', 'other'), 0)?.follow(ofOther)
    const [first] = fill(waiting, of('a', 'full'))
    first?.follow(ofSame)
    ofOther.become('half-closed')
    ofSame.become('half-closed')
    expect(fill(waiting, of('a', 'full')).length).toBe(1)
    expect(first?.ended.aborted).toBe(true)
  })

  test('of a sender that has gone before are ended at once', () => {
    const gone = sender()
    gone.become('gone')
    const place = new WaitingAnswers(2).enter(of('a'), 0)
    place?.follow(gone)
    expect(place?.ended.aborted).toBe(true)
  })
})
