import type { Facts, JsonObject, ProviderSamples } from '../sample.ts'

const USER = { id: 4711, login: 'ada', type: 'User' } as const
const REPOSITORY = {
  id: 90210,
  name: 'tidepool',
  full_name: 'ada/tidepool',
  private: false,
  default_branch: 'main',
} as const

const githubEvent = (event: string) => (facts: Facts) => ({
  'X-GitHub-Event': event,
  'X-GitHub-Delivery': facts.uuid(),
  'X-GitHub-Hook-ID': String(facts.number(9)),
})

const commit = (facts: Facts): JsonObject => ({
  id: facts.hex(40),
  message: 'Count the tides from zero',
  timestamp: facts.iso,
  author: { name: 'Ada Example', email: 'ada@example.com' },
  added: [],
  modified: ['src/tides.ts'],
  removed: [],
})

const GITHUB: ProviderSamples = {
  provider: 'github',
  events: [
    {
      event: 'push',
      summary: 'A commit on main',
      headers: githubEvent('push'),
      body: (facts) => ({
        ref: 'refs/heads/main',
        before: facts.hex(40),
        after: facts.hex(40),
        repository: REPOSITORY,
        pusher: { name: 'ada', email: 'ada@example.com' },
        sender: USER,
        commits: [commit(facts)],
      }),
    },
    {
      event: 'pull_request',
      summary: 'A pull request was opened',
      headers: githubEvent('pull_request'),
      body: (facts) => ({
        action: 'opened',
        number: facts.number(3),
        pull_request: {
          id: facts.number(9),
          title: 'Count the tides from zero',
          state: 'open',
          draft: false,
          head: { ref: 'from-zero', sha: facts.hex(40) },
          base: { ref: 'main', sha: facts.hex(40) },
          user: USER,
        },
        repository: REPOSITORY,
        sender: USER,
      }),
    },
    {
      event: 'issues',
      summary: 'An issue was opened',
      headers: githubEvent('issues'),
      body: (facts) => ({
        action: 'opened',
        issue: {
          id: facts.number(9),
          number: facts.number(3),
          title: 'Ebb is late',
          state: 'open',
          user: USER,
          labels: [],
        },
        repository: REPOSITORY,
        sender: USER,
      }),
    },
  ],
}

const PROJECT = {
  id: 1234,
  name: 'tidepool',
  path_with_namespace: 'ada/tidepool',
  default_branch: 'main',
} as const

const gitlabEvent = (event: string) => (facts: Facts) => ({
  'X-Gitlab-Event': event,
  'X-Gitlab-Event-UUID': facts.uuid(),
  'Idempotency-Key': facts.uuid(),
  'X-Gitlab-Instance': 'https://gitlab.example.com',
})

const GITLAB: ProviderSamples = {
  provider: 'gitlab',
  events: [
    {
      event: 'Push Hook',
      summary: 'A commit on main',
      headers: gitlabEvent('Push Hook'),
      body: (facts) => ({
        object_kind: 'push',
        ref: 'refs/heads/main',
        before: facts.hex(40),
        after: facts.hex(40),
        user_username: 'ada',
        project: PROJECT,
        commits: [commit(facts)],
        total_commits_count: 1,
      }),
    },
    {
      event: 'Merge Request Hook',
      summary: 'A merge request was opened',
      headers: gitlabEvent('Merge Request Hook'),
      body: (facts) => ({
        object_kind: 'merge_request',
        user: { username: 'ada' },
        project: PROJECT,
        object_attributes: {
          id: facts.number(6),
          iid: facts.number(2),
          action: 'open',
          source_branch: 'from-zero',
          target_branch: 'main',
          state: 'opened',
          title: 'Count the tides from zero',
        },
      }),
    },
  ],
}

const bitbucketEvent = (event: string) => (facts: Facts) => ({
  'X-Event-Key': event,
  'X-Hook-UUID': facts.uuid(),
  'X-Request-UUID': facts.uuid(),
  'X-Attempt-Number': '1',
})

const BITBUCKET: ProviderSamples = {
  provider: 'bitbucket',
  events: [
    {
      event: 'repo:push',
      summary: 'A commit on main',
      headers: bitbucketEvent('repo:push'),
      body: (facts) => ({
        actor: { display_name: 'Ada Example', nickname: 'ada', type: 'user' },
        repository: { name: 'tidepool', full_name: 'ada/tidepool', type: 'repository' },
        push: {
          changes: [
            { created: false, forced: false, new: { name: 'main', target: { hash: facts.hex(40) } } },
          ],
        },
      }),
    },
    {
      event: 'pullrequest:created',
      summary: 'A pull request was opened',
      headers: bitbucketEvent('pullrequest:created'),
      body: (facts) => ({
        actor: { display_name: 'Ada Example', nickname: 'ada', type: 'user' },
        repository: { name: 'tidepool', full_name: 'ada/tidepool', type: 'repository' },
        pullrequest: {
          id: facts.number(3),
          title: 'Count the tides from zero',
          state: 'OPEN',
          type: 'pullrequest',
        },
      }),
    },
  ],
}

const LINEAR: ProviderSamples = {
  provider: 'linear',
  events: [
    {
      event: 'Issue',
      summary: 'An issue was created',
      headers: (facts) => ({ 'Linear-Event': 'Issue', 'Linear-Delivery': facts.uuid() }),
      body: (facts) => ({
        action: 'create',
        type: 'Issue',
        createdAt: facts.iso,
        data: {
          id: facts.uuid(),
          identifier: `TID-${facts.number(3)}`,
          priority: 2,
          state: { name: 'Todo', type: 'unstarted' },
          title: 'Ebb is late',
        },
        organizationId: facts.uuid(),
        webhookTimestamp: facts.now.getTime(),
        webhookId: facts.uuid(),
      }),
    },
  ],
}

const jiraHeaders = (facts: Facts) => ({ 'X-Atlassian-Webhook-Identifier': facts.uuid() })

const jira = (event: string, fields: JsonObject) => (facts: Facts) => ({
  timestamp: facts.now.getTime(),
  webhookEvent: event,
  user: { accountId: facts.hex(24), displayName: 'Ada Example' },
  issue: { id: String(facts.number(5)), key: `TID-${facts.number(3)}`, fields },
})

const JIRA: ProviderSamples = {
  provider: 'jira',
  events: [
    {
      event: 'jira:issue_created',
      summary: 'An issue was created',
      headers: jiraHeaders,
      body: jira('jira:issue_created', {
        summary: 'Ebb is late',
        issuetype: { name: 'Bug' },
        status: { name: 'To Do' },
      }),
    },
    {
      event: 'jira:issue_updated',
      summary: 'An issue is in progress',
      headers: jiraHeaders,
      body: jira('jira:issue_updated', { summary: 'Ebb is late', status: { name: 'In Progress' } }),
    },
  ],
}

/** Samples of hosts of code and issues. */
export const CODE: readonly ProviderSamples[] = [GITHUB, GITLAB, BITBUCKET, LINEAR, JIRA]
