/// <reference path="./assets.d.ts" />
import agents from '../../../docs/agents.md' with { type: 'text' }
import alerts from '../../../docs/alerts.md' with { type: 'text' }
import answers from '../../../docs/answers.md' with { type: 'text' }
import api from '../../../docs/api.md' with { type: 'text' }
import clients from '../../../docs/clients.md' with { type: 'text' }
import concepts from '../../../docs/concepts.md' with { type: 'text' }
import console from '../../../docs/console.md' with { type: 'text' }
import delivery from '../../../docs/delivery.md' with { type: 'text' }
import errors from '../../../docs/errors.md' with { type: 'text' }
import install from '../../../docs/install.md' with { type: 'text' }
import keys from '../../../docs/keys.md' with { type: 'text' }
import migrating from '../../../docs/migrating.md' with { type: 'text' }
import operations from '../../../docs/operations.md' with { type: 'text' }
import plans from '../../../docs/plans.md' with { type: 'text' }
import privacy from '../../../docs/privacy.md' with { type: 'text' }
import providers from '../../../docs/providers.md' with { type: 'text' }
import quickstartCi from '../../../docs/quickstarts/ci.md' with { type: 'text' }
import quickstartNginx from '../../../docs/quickstarts/nginx-and-managed-postgres.md' with { type: 'text' }
import quickstartVm from '../../../docs/quickstarts/one-vm.md' with { type: 'text' }
import quickstartRehearse from '../../../docs/quickstarts/rehearse.md' with { type: 'text' }
import quickstartStripe from '../../../docs/quickstarts/stripe-to-three-services.md' with { type: 'text' }
import reconcile from '../../../docs/reconcile.md' with { type: 'text' }
import rehearse from '../../../docs/rehearse.md' with { type: 'text' }
import relay from '../../../docs/relay.md' with { type: 'text' }
import routes from '../../../docs/routes.md' with { type: 'text' }
import rules from '../../../docs/rules.md' with { type: 'text' }
import rulesExamples from '../../../docs/rules-examples.md' with { type: 'text' }
import rulesFunctions from '../../../docs/rules-functions.md' with { type: 'text' }
import runbook from '../../../docs/runbook.md' with { type: 'text' }
import scale from '../../../docs/scale.md' with { type: 'text' }
import security from '../../../docs/security.md' with { type: 'text' }
import sharing from '../../../docs/sharing.md' with { type: 'text' }
import terminal from '../../../docs/terminal.md' with { type: 'text' }
import troubleshooting from '../../../docs/troubleshooting.md' with { type: 'text' }

/** A page of the documentation, as bundled with the program. */
interface Page {
  /** Its file in `docs/`, and its address below `/docs/`. */
  readonly file: string
  readonly about: string
  readonly text: string
}

/** Every page, in reading order. */
export const PAGES: readonly Page[] = [
  {
    file: 'install.md',
    about: 'from a clone, and after the first release: npm, Homebrew, container',
    text: install,
  },
  {
    file: 'concepts.md',
    about: 'every feature in words, with a command that works',
    text: concepts,
  },
  {
    file: 'migrating.md',
    about: 'from webhook.site, ngrok, smee and the Stripe CLI: what you do there, and how here',
    text: migrating,
  },
  {
    file: 'troubleshooting.md',
    about: 'my webhook did not arrive: from the sender to your code, step by step',
    text: troubleshooting,
  },
  {
    file: 'answers.md',
    about: 'scripted answers to senders, and the answer of your own application',
    text: answers,
  },
  {
    file: 'runbook.md',
    about: 'each alert of the shipped rules: what it means, what to look at, what to do',
    text: runbook,
  },
  {
    file: 'privacy.md',
    about: 'what is stored where, redaction before storing, and forgetting a person',
    text: privacy,
  },
  {
    file: 'sharing.md',
    about: 'a link that shows one request to readers without a key',
    text: sharing,
  },
  {
    file: 'api.md',
    about: 'using the REST API well: keys, budgets, lists, following, awaiting, export and import, errors',
    text: api,
  },
  { file: 'clients.md', about: 'typed clients, tests that wait for webhooks, CI', text: clients },
  { file: 'routes.md', about: 'every operation of the API', text: routes },
  { file: 'errors.md', about: 'every error code, and what to do about it', text: errors },
  { file: 'rules.md', about: 'conditions and transformation rules', text: rules },
  { file: 'rules-examples.md', about: 'ten rules, worked through', text: rulesExamples },
  { file: 'rules-functions.md', about: 'the functions that rules compute with', text: rulesFunctions },
  {
    file: 'delivery.md',
    about: 'pace, order, retries, credentials, TLS and signatures of a forward',
    text: delivery,
  },
  { file: 'providers.md', about: 'the known senders, their signatures and handshakes', text: providers },
  {
    file: 'rehearse.md',
    about: 'replays of many requests, with faults and comparison',
    text: rehearse,
  },
  {
    file: 'reconcile.md',
    about: "bringing the events that never came, from their sender's list",
    text: reconcile,
  },
  { file: 'alerts.md', about: 'alert channels, events and incidents', text: alerts },
  {
    file: 'agents.md',
    about: 'tools and events for agents, by the Model Context Protocol, and their sign-in',
    text: agents,
  },
  { file: 'terminal.md', about: 'the command line for developers', text: terminal },
  {
    file: 'relay.md',
    about: 'a public URL for a program on your machine; running a relay for a team',
    text: relay,
  },
  { file: 'console.md', about: 'the live page in a browser', text: console },
  {
    file: 'keys.md',
    about: 'scopes, expiry and rotation of keys; the audit log; secrets at rest',
    text: keys,
  },
  { file: 'plans.md', about: 'every number of every plan, and how limits act', text: plans },
  { file: 'security.md', about: 'what Creel guards against, and how', text: security },
  { file: 'scale.md', about: 'what limits how much, and what to do past one machine', text: scale },
  { file: 'operations.md', about: 'configuration, deployment, backups, logs and metrics', text: operations },
  {
    file: 'quickstarts/ci.md',
    about: 'wait for a webhook in GitHub Actions or GitLab CI',
    text: quickstartCi,
  },
  {
    file: 'quickstarts/stripe-to-three-services.md',
    about: 'one endpoint, three services, each with its own condition and retries',
    text: quickstartStripe,
  },
  {
    file: 'quickstarts/rehearse.md',
    about: 'last week against the next release, in CI',
    text: quickstartRehearse,
  },
  { file: 'quickstarts/one-vm.md', about: 'an operator on one Linux machine', text: quickstartVm },
  {
    file: 'quickstarts/nginx-and-managed-postgres.md',
    about: 'several processes behind nginx, the database at a provider',
    text: quickstartNginx,
  },
]

/** Former pages, which are sections of others. */
const MOVED: Readonly<Record<string, string>> = {
  'destinations.md': 'delivery.md',
  'logs.md': 'operations.md',
  'metrics.md': 'operations.md',
  'oauth.md': 'agents.md',
  'tour.md': 'concepts.md',
}

/** The title of a page: its first heading. */
const titleOf = ({ file, text }: Page) => /^# (.+)$/m.exec(text)?.[1] ?? file

/**
 * `/llms.txt`: an overview for language models, after llmstxt.org.
 *
 * @param baseUrl the service's own address, for links
 */
function llmsText(baseUrl: string): string {
  const links = PAGES.map((page) => `- [${titleOf(page)}](${baseUrl}/docs/${page.file}): ${page.about}`)
  return `# Creel

> Creel captures webhooks: capture URLs store whatever senders send, byte for byte; an API lists, searches, awaits, verifies, transforms, forwards and
> replays it; watchdogs alarm when an expected webhook does not come.

Every call needs an API key, \`Authorization: Bearer …\`; capture URLs (\`/hook/{endpointId}\`) need none. Errors are \`application/problem+json\`: branch on
\`code\`. An agent can use the tools at \`${baseUrl}/mcp\`.

## Documentation

${links.join('\n')}

## Machine-readable

- [OpenAPI 3.1](${baseUrl}/openapi/v1.json): every route, member, bound and error
- [JSON Schema of rules](${baseUrl}/api/v1/transformations/schema): the grammar of transformation rules and conditions
`
}

const MARKDOWN = 'text/markdown; charset=utf-8'

/** The routes of the documentation as text: `/llms.txt`, its twin of `/docs`, and each page. */
export function pageRoutes(baseUrl: string): Readonly<Record<string, () => Response>> {
  const answer = (text: string, type: string) => () =>
    new Response(text, {
      headers: {
        'Content-Type': type,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'public, max-age=3600',
      },
    })
  const index = llmsText(baseUrl)
  return {
    '/llms.txt': answer(index, 'text/plain; charset=utf-8'),
    '/docs.md': answer(index, MARKDOWN),
    ...Object.fromEntries(PAGES.map(({ file, text }) => [`/docs/${file}`, answer(text, MARKDOWN)])),
    ...Object.fromEntries(
      Object.entries(MOVED).map(([from, to]) => [
        `/docs/${from}`,
        () => new Response(null, { status: 301, headers: { Location: `${baseUrl}/docs/${to}` } }),
      ]),
    ),
  }
}
