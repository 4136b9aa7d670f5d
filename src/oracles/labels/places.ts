/**
 * Where a server acts: names of services and of things of this machine. A name in the wrong list makes a wrong reach, which
 * an operator sees on the card; what acts still acts.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Services, and databases that are reached by a connection. */
export const services: ReadonlySet<string> = words(
  "airtable algolia amadeus amplitude anthropic apify arxiv asana atlassian auth0 aws azure bigquery bing bitbucket bitly booking " +
    "box brave brightdata browserbase buildkite canva circleci clickhouse clickup cloudflare confluence context7 " +
    "contentful crunchbase databricks datadog digitalocean discord dropbox duckduckgo ebay elastic elasticsearch etsy exa " +
    "expedia facebook figma firebase firecrawl fly freshdesk gcp gcs gdrive ghost github gitlab gmail google grafana hackernews " +
    "helm heroku hubspot huggingface instagram intercom jenkins jira k8s kafka klaviyo kubectl kubernetes langfuse launchdarkly " +
    "linear line linkedin looker mailchimp mailgun mapbox maps mariadb metabase microsoft mixpanel monday mongo mongodb mssql " +
    "mysql n8n neo4j neon netlify newrelic notion okta onedrive openai opensearch openweather outlook pagerduty paypal " +
    "perplexity pinecone pipedrive plaid planetscale postgres postgresql posthog postman qdrant quickbooks raindrop reddit redis sftp ftp mail gdocs gsheets calendly " +
    "render replicate resend s3 salesforce semrush sendgrid sentry serp servicenow sharepoint shopify shodan slack snowflake " +
    "sonarqube spotify square ssh strava stripe supabase teams telegram terraform ticktick tiktok todoist trello twilio twitch " +
    "twitter typeform upstash vectra vercel virustotal weaviate webflow whatsapp wikipedia wolfram woocommerce wordpress workday " +
    "xero yahoo yelp youtube zapier zendesk zillow zoho zoom zscaler",
);

/** Things of this machine. */
export const machines: ReadonlySet<string> = words(
  "filesystem desktop terminal shell sqlite duckdb obsidian vault memory thinking sequential clipboard git docker ffmpeg imagemagick " +
    "pandoc excel word powerpoint pdf applescript xcode blender unity jupyter repl runner interpreter calculator",
);

/** Words of descriptions and arguments that speak of an account with a service, and of the network. */
export const accountWords: ReadonlySet<string> = words(
  "api account workspace workspaces organization organisation team teams board boards channel channels project projects issue " +
    "issues ticket tickets customer customers contact contacts crm campaign dashboard url urls web website websites internet " +
    "online cloud remote cluster namespace bucket tenant repository pull domain domains webhook oauth endpoint database " +
    "databases collection index email emails inbox message messages users user server servers",
);

export const fileWords: ReadonlySet<string> = words(
  "file files directory directories folder folders path paths disk local locally filesystem clipboard process processes " +
    "workspace-root graph entity entities relations observations vault",
);

/** The page of a browser that the server drives: what it holds is here, where it goes is outside. */
export const pageWords: ReadonlySet<string> = words(
  "browser page pages tab tabs console snapshot screenshot network viewport dialog element elements session sessions trace connection connections",
);

/** Servers whose tools work on the page of a browser. */
export const browsers: ReadonlySet<string> = words(
  "playwright puppeteer chrome chromium browser browserbase selenium webdriver",
);

/** What a change of it changes for later users of a system. */
export const settingNouns: ReadonlySet<string> = words(
  "application applications policy policies rule rules domain domains setting settings config configuration preference " +
    "preferences property properties filter filters authenticator factor zone automation environment variable variables " +
    "pipeline pipelines team teams queue queues cluster clusters ruleset group groups state states view views feature flag flags default defaults protection template templates integration",
);

/** Services where a place is public as often as not: what is written there may be read by anyone. */
export const publicServices: ReadonlySet<string> = words(
  "github gitlab bitbucket huggingface reddit twitter mastodon bluesky linkedin facebook instagram tiktok youtube wordpress ghost medium stackoverflow hackernews discourse",
);
export const publicNouns: ReadonlySet<string> = words(
  "issue issues comment comments note notes thread threads discussion discussions pull merge request requests review reviews reply release releases milestone milestones file files markdown gist post posts tweet wiki page snippet article commit commits tag tags",
);

export const rightNouns: ReadonlySet<string> = words(
  "permission permissions role roles access member members membership collaborator collaborators grant grants invite invitation " +
    "owner admin acl share sharing",
);

export const secretNouns: ReadonlySet<string> = words(
  "password passwords secret secrets token tokens key keys credential credentials certificate certificates user users account accounts",
);

export const messageNouns: ReadonlySet<string> = words(
  "message messages email emails mail reply sms notification notifications dm feedback invitation broadcast chat",
);

export const moneyNouns: ReadonlySet<string> = words(
  "payment payments payout refund refunds invoice invoices charge charges order orders transfer transaction transactions subscription money",
);

export const timeNouns: ReadonlySet<string> = words("schedule schedules cron reminder reminders monitor recurring");
