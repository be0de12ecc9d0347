import { expect, test } from 'bun:test'
import { Agent, browserOf, callMcp, post } from '../oauth/agent.ts'
import { startCells } from '../support/cells.ts'
import { createTestDatabase } from '../support/database.ts'

test('an agent of a workspace in another cell than the first signs in, renews, asks again, and is revoked', async () => {
  const databases = await Promise.all([createTestDatabase(), createTestDatabase()])
  const { cells, process } = await startCells(databases, { env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' } })
  for (const { owner } of cells.slice(1)) {
    await using agent = await Agent.start(process)
    const browser = await browserOf(owner)
    const first = await agent.signIn(browser)
    expect((await callMcp(process, first.access_token)).status).toBe(200)

    const second = await agent.refresh(first.refresh_token)
    expect(second.status).toBe(200)
    // The answer may have been lost: the same token again gets the same tokens.
    expect(await agent.refresh(first.refresh_token)).toMatchObject({
      status: 200,
      body: { refresh_token: second.body.refresh_token },
    })
    const third = await agent.refresh(second.body.refresh_token)
    expect((await callMcp(process, third.body.access_token)).status).toBe(200)

    const revoked = await post(process, '/oauth/revoke', { token: third.body.refresh_token })
    expect(revoked.status).toBe(200)
    expect((await callMcp(process, third.body.access_token)).status).toBe(401)

    const again = await agent.signIn(browser)
    await post(process, '/oauth/revoke', { token: again.access_token })
    expect((await callMcp(process, again.access_token)).status).toBe(401)
  }
})
