r"""What a secret looks like: the token forms of vendors, and the words that announce a value.

Every token form is ``(kind, pattern)``. A pattern begins with what only that vendor writes and ends in an open run
(``{20,}``), so that a longer token is taken whole. Patterns hold to the syntax that RE2 and `re` share and have no
groups that capture. Lengths are the shortest seen, a little relaxed: a false name is worse than a short one.

* ``STRONG``: the prefix alone is proof; found anywhere, also glued to other letters.
* ``BOUNDED``: has to begin where a word begins.
* ``WEAK``: begins where a word begins, and letters and digits must alternate in it, which prose and identifiers do not.
"""

# ruff: noqa: E501 - a pattern is read as one line

from typing import Final

_HEX8_UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

STRONG: Final[tuple[tuple[str, str], ...]] = (
    # code hosting and packages
    ("github-token", r"gh[pousr]_[A-Za-z0-9_]{30,}"),
    ("github-token", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|ffct|imt|agent|oas|soat|wt)-[A-Za-z0-9_.=-]{20,}"),
    ("gitlab-token", r"GR1348941[A-Za-z0-9_-]{20,}"),
    ("gitlab-session", r"_gitlab_session=[0-9a-z]{32,}"),
    ("npm-token", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-token", r"pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{40,}"),
    ("rubygems-token", r"rubygems_[a-f0-9]{40,}"),
    ("clojars-token", r"CLOJARS_[A-Za-z0-9]{50,}"),
    ("docker-token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("atlassian-token", r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{60,}"),
    ("sourcegraph-token", r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40,}"),
    ("circleci-token", r"CCIPAT_[A-Za-z0-9]{16,}_[A-Za-z0-9]{30,}"),
    ("circleci-token", r"CCIPRJ_[A-Za-z0-9]{16,}_[A-Za-z0-9]{30,}"),
    ("buildkite-token", r"bk(?:ua|pt|aj|ct)_[A-Za-z0-9]{32,}"),
    # models and inference
    ("anthropic-key", r"sk-ant-(?:[a-z]{2,12}[0-9]{2}-)?[A-Za-z0-9_-]{24,}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,}"),
    ("openai-key", r"sk-[A-Za-z0-9]{10,}T3BlbkFJ[A-Za-z0-9]{10,}"),
    ("openrouter-key", r"sk-or-(?:v[0-9]-)?[A-Za-z0-9]{32,}"),
    ("langfuse-key", r"[sp]k-lf-[0-9a-f-]{32,}"),
    ("langsmith-key", r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}"),
    ("langsmith-key", r"ls__[A-Za-z0-9]{32,}"),
    ("huggingface-token", r"hf_[A-Za-z0-9]{30,}"),
    ("huggingface-token", r"api_org_[A-Za-z0-9]{30,}"),
    ("groq-key", r"gsk_[A-Za-z0-9]{40,}"),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{32,}"),
    ("xai-key", r"xai-[A-Za-z0-9_-]{60,}"),
    ("cerebras-key", r"csk-[A-Za-z0-9]{40,}"),
    ("together-key", r"tgp_v1_[A-Za-z0-9_-]{36,}"),
    ("nvidia-key", r"nvapi-[A-Za-z0-9_-]{50,}"),
    ("replicate-token", r"r8_[A-Za-z0-9]{36,}"),
    ("wandb-key", r"wandb_v1_[A-Za-z0-9_]{60,}"),
    ("tavily-key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,}"),
    ("jina-key", r"jina_[A-Za-z0-9_-]{40,}"),
    ("pinecone-key", r"pcsk_[A-Za-z0-9_]{40,}"),
    ("llamaindex-key", r"llx-[A-Za-z0-9]{40,}"),
    ("apify-token", r"apify_(?:api|proxy)_[A-Za-z0-9]{30,}"),
    ("e2b-key", r"e2b_[a-f0-9]{36,}"),
    ("runpod-key", r"rpa_[A-Za-z0-9]{36,}"),
    ("anyscale-key", r"esecret_[A-Za-z0-9]{24,}"),
    ("devin-key", r"apk_(?:user_)?[A-Za-z0-9+/]{70,}={0,2}"),
    ("devin-key", r"cog_[a-z2-7]{50,}"),
    ("bedrock-key", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    ("bedrock-key", r"bedrock-api-key-[A-Za-z0-9+/=]{20,}"),
    ("minimax-key", r"sk-api-[A-Za-z0-9_-]{60,}"),
    ("smithery-key", r"sk-litellm-[A-Za-z0-9_-]{16,}"),
    # clouds and hosting
    ("google-oauth-secret", r"GOCSPX-[A-Za-z0-9_-]{24,}"),
    ("google-oauth-token", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    ("baidu-key", r"bce-v3/ALTAK-[A-Za-z0-9]{16,}(?:/[a-f0-9]{32,})?"),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{60,}"),
    ("heroku-key", r"HRKU-[A-Za-z0-9_-]{30,}"),
    ("cloudflare-origin-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    ("cloudflare-token", r"cf(?:at|ut|k)_[A-Za-z0-9]{38,}"),
    ("flyio-token", r"fo1_[A-Za-z0-9_-]{40,}"),
    ("flyio-token", r"fm[12][ar]?_[A-Za-z0-9+/]{80,}={0,3}"),
    ("netlify-token", r"nf[pcobu]_[A-Za-z0-9_]{36,}"),
    ("vercel-token", r"vc[kpari]_[A-Za-z0-9_-]{50,}"),
    ("supabase-token", r"sbp_[A-Za-z0-9_-]{38,}"),
    ("supabase-key", r"sb_secret_[A-Za-z0-9_-]{24,}"),
    ("neon-key", r"napi_[A-Za-z0-9]{50,}"),
    ("planetscale-token", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,}"),
    ("cockroach-key", r"CCDB1_[A-Za-z0-9]{20,}_[A-Za-z0-9]{36,}"),
    ("mongodb-atlas-secret", r"mdb_sa_sk_[A-Za-z0-9_-]{36,}"),
    ("databricks-token", r"d(?:api|kea|ose|osr|sap)[a-f0-9]{32,}(?:-[0-9])?"),
    ("deno-token", r"dd[pow]_[A-Za-z0-9]{34,}"),
    ("scalingo-token", r"tk-us-[A-Za-z0-9_-]{40,}"),
    ("upcloud-token", r"ucat_[A-Za-z0-9]{24,}"),
    ("tailscale-key", r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,}-?[A-Za-z0-9-]{10,}"),
    ("render-key", r"rnd_[A-Za-z0-9]{28,}"),
    ("elastic-key", r"essu_[A-Za-z0-9_-]{50,}={0,2}"),
    ("hashicorp-vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    ("doppler-token", r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{38,}"),
    ("pulumi-token", r"pul-[a-f0-9]{38,}"),
    ("infracost-token", r"ico-[A-Za-z0-9]{32,}"),
    ("openshift-token", r"sha256~[A-Za-z0-9_-]{40,}"),
    ("onepassword-token", r"ops_eyJ[A-Za-z0-9+/]{40,}={0,3}"),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("endorlabs-key", r"endr\+[A-Za-z0-9-]{16,}"),
    # observability
    ("grafana-token", r"gl(?:c|sa)_[A-Za-z0-9+/_-]{32,}={0,2}"),
    ("grafana-token", r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    ("newrelic-key", r"NR(?:AK|II|IQ|RA|SP|AL)-[A-Za-z0-9_-]{24,}"),
    ("newrelic-key", r"NRJS-[a-f0-9]{19,}"),
    ("newrelic-key", r"[a-f0-9]{36}NRAL"),
    ("sentry-dsn", r"[0-9a-f]{32}(?::[0-9a-f]{32})?@[a-z0-9.-]*sentry\.io/[0-9]+"),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("dynatrace-token", r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,}"),
    ("honeycomb-key", r"hc[a-z]{1,3}k_[A-Za-z0-9]{50,}"),
    ("posthog-key", r"ph[xcs]_[A-Za-z0-9_-]{40,}"),
    ("sonar-token", r"sq[uap]_[a-z0-9]{36,}"),
    ("postman-key", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{30,}"),
    ("harness-token", r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20,}"),
    ("prefect-token", r"pn[ub]_[A-Za-z0-9]{34,}"),
    ("configcat-key", r"configcat-sdk-1/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{20,}"),
    ("launchdarkly-key", rf"(?:sdk|api|mob)-{_HEX8_UUID}"),
    # chat and mail
    ("slack-token", r"xox[abcdeoprs](?:\.xox[abeps])?-[A-Za-z0-9%/+.-]{10,}"),
    ("slack-token", r"xapp-[0-9]-[A-Za-z0-9]{6,}-[0-9]{6,}-[A-Za-z0-9]{16,}"),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{24,}"),
    ("discord-webhook", r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{16,20}/[A-Za-z0-9_-]{40,}"),
    ("teams-webhook", rf"webhook\.office\.com/webhookb2/{_HEX8_UUID}@[A-Za-z0-9/-]{{60,}}"),
    ("teams-webhook", rf"outlook\.office(?:365)?\.com/webhook/{_HEX8_UUID}@[A-Za-z0-9/-]{{60,}}"),
    ("zapier-webhook", r"hooks\.zapier\.com/hooks/catch/[0-9]{4,}/[A-Za-z0-9]{5,}"),
    (
        "google-chat-webhook",
        r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?key=[A-Za-z0-9_%&=-]{40,}",
    ),
    ("ifttt-webhook", r"maker\.ifttt\.com/trigger/[A-Za-z0-9_-]+/(?:json/)?with/key/[A-Za-z0-9_-]{20,}"),
    ("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
    ("brevo-key", r"x(?:key|smtp)sib-[a-f0-9]{60,}-[A-Za-z0-9]{12,}"),
    ("mailersend-key", r"mlsn\.[a-f0-9]{60,}"),
    ("mailgun-key", r"pubkey-[a-f0-9]{32,}"),
    ("resend-key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("hubspot-token", rf"pat-(?:na|eu|ap)[0-9]-{_HEX8_UUID}"),
    # work tools
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{60,}"),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{36,}"),
    ("notion-token", r"ntn_[0-9]{9,}[A-Za-z0-9]{30,}"),
    ("figma-token", r"fig[dourh]{1,2}_[A-Za-z0-9_-]{36,}"),
    ("typeform-token", r"tfp_[A-Za-z0-9_.=-]{40,}"),
    ("contentful-token", r"CFPAT-[A-Za-z0-9_-]{40,}"),
    ("readme-key", r"rdme_[a-z0-9]{60,}"),
    ("frameio-token", r"fio-u-[A-Za-z0-9_=-]{60,}"),
    ("dropbox-token", r"sl\.(?:u\.)?[A-Za-z0-9_=-]{100,}"),
    ("canva-secret", r"cnvca[A-Za-z0-9_-]{48,}"),
    ("clickup-token", r"pk_[0-9]{6,9}_[A-Z0-9]{30,}"),
    ("maxmind-key", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("adobe-secret", r"p8e-[A-Za-z0-9_-]{30,}"),
    ("intra42-secret", r"s-s4t2(?:ud|af)-[a-f0-9]{60,}"),
    ("settlemint-token", r"sm_[aps]at_[A-Za-z0-9]{16,}"),
    ("ubidots-token", r"BBFF-[A-Za-z0-9]{28,}"),
    ("salesforce-token", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}"),
    ("stackhawk-key", r"hawk\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("rootly-key", r"rootly_[a-f0-9]{60,}"),
    ("snyk-token", r"snyk_(?:uat|sat)\.[A-Za-z0-9]{6,}\.[A-Za-z0-9._-]{30,}"),
    ("defined-networking-key", r"dnkey-[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{50,}"),
    ("duffel-token", r"duffel_(?:test|live)_[A-Za-z0-9_=-]{38,}"),
    # payments and shops
    ("stripe-key", r"[srp]k_(?:live|test|prod)_[A-Za-z0-9_]{16,}"),
    ("stripe-webhook-secret", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{30,}"),
    ("square-token", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    ("braintree-token", r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,}\$[a-f0-9]{30,}"),
    ("amazon-mws-token", rf"amzn\.mws\.{_HEX8_UUID}"),
    ("amazon-oauth-secret", r"amzn1\.oa2-cs\.v1\.[a-f0-9]{60,}"),
    ("plaid-token", rf"access-(?:sandbox|development|production)-{_HEX8_UUID}"),
    ("razorpay-key", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    ("flutterwave-key", r"FLW(?:SEC|PUB)K(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    ("shippo-token", r"shippo_(?:live|test)_[a-fA-F0-9]{38,}"),
    ("paystack-key", r"sk_(?:live|test)_[a-f0-9]{36,}"),
    ("lemonsqueezy-key", r"lmsq_[A-Za-z0-9]{30,}"),
    ("coinbase-key", r"organizations/[a-f0-9-]{36}/apiKeys/[a-f0-9-]{36}"),
    ("bitcoin-extended-key", r"[xyz]prv[A-HJ-NP-Za-km-z1-9]{100,}"),
    ("mapbox-token", r"[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    ("facebook-token", r"EAA(?:CEdEose0cBA|[A-Z][A-Za-z0-9]{2}Z[ABC])[A-Za-z0-9]{20,}"),
    ("instagram-token", r"IG(?:QV|QW|AA)[A-Za-z0-9_-]{60,}"),
    ("twitter-bearer", r"A{20,}[A-Za-z0-9]{4,}%(?:2B|2F|3D)[A-Za-z0-9%]{20,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("jwt", r"eyJ(?:hbGciOi|0eXAiOi|raWQiOi)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.?"),
    ("jwt", r"ZXlK(?:aGJHY2lPaU|MGVYQWlPaU|cmFXUWlPaU|cmFXUWlP)[A-Za-z0-9+/_-]{40,}={0,2}"),
    ("private-key", r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}={0,2}"),
    ("private-key", r"MII[A-Za-z0-9+/]{1,6}IBADANBgkqhkiG9w0BAQEFAAS[A-Za-z0-9+/]{40,}={0,2}"),
    (
        "private-key",
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[A-Za-z0-9+/]{20,}={0,2}",
    ),
)

BOUNDED: Final[tuple[tuple[str, str], ...]] = (
    ("gcp-api-key", r"AIza[A-Za-z0-9_-]{34,}"),
    ("alibaba-key", r"LTAI[A-Za-z0-9]{14,}"),
    ("bitbucket-token", r"ATBB[A-Za-z0-9]{28,}"),
    ("trello-token", r"ATTA[a-f0-9]{60,}"),
    ("easypost-key", r"EZ[AT]K[A-Za-z0-9]{50,}"),
    ("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AIPA|ANPA|ANVA|AGPA|APKA)[A-Z0-9]{16}\b"),
    ("aws-access-key", r"A3T[A-Z0-9]{17}\b"),
    ("tencent-key", r"AKID[A-Za-z0-9]{13,40}\b"),
    ("volcengine-key", r"AKLT[A-Za-z0-9_=-]{40,}"),
    ("scaleway-key", r"SCW[A-Z0-9]{17}\b"),
    ("azure-client-secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,}"),
    ("google-refresh-token", r"1//0[A-Za-z0-9_-]{30,}"),
    ("firebase-key", r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{120,}"),
    ("twilio-key", r"SK[0-9a-f]{32}\b"),
    ("twilio-account", r"AC[0-9a-f]{32}\b"),
    ("telegram-token", r"[0-9]{8,10}:A[A-Za-z0-9_-]{33,35}\b"),
    ("discord-token", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{26,}"),
    ("discord-token", r"mfa\.[A-Za-z0-9_-]{80,}"),
    ("mailchimp-key", r"[0-9a-f]{32}-us[0-9]{1,2}\b"),
    ("mailgun-key", r"key-[0-9a-z]{32}\b"),
    ("mailgun-signing-key", r"[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}\b"),
    ("facebook-token", r"EAA[A-Za-z0-9]{80,}"),
    ("square-token", r"EAAA[A-Za-z0-9_-]{56,}"),
    ("facebook-app-token", r"[0-9]{15,16}\|[A-Za-z0-9_-]{26,}"),
    ("asana-token", r"[012]/[0-9]{14,17}(?:/[0-9]{14,17})?:[a-f0-9]{32}\b"),
    (
        "onepassword-secret-key",
        r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b",
    ),
    ("octopus-key", r"API-[A-Z0-9]{25,32}\b"),
    ("nuget-key", r"oy2[a-z0-9]{43}\b"),
    ("artifactory-key", r"AKCp[A-Za-z0-9]{50,}"),
    ("artifactory-key", r"cmVmd[A-Za-z0-9]{58,}"),
    (
        "authress-key",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    ),
    ("yandex-token", r"t1\.[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{80,}={0,2}"),
    ("yandex-key", r"AQVN[A-Za-z0-9_-]{34,}"),
    ("yandex-token", r"y[0-3]_[A-Za-z0-9_-]{50,}"),
    ("bitly-token", r"R_[0-9a-f]{32}\b"),
    ("facebook-token", r"EAAB[A-Za-z0-9]{40,}"),
    ("openai-key", r"sess-[A-Za-z0-9]{40}\b"),
    ("deepseek-key", r"sk-[a-f0-9]{32}\b"),
    ("elevenlabs-key", r"sk_[a-f0-9]{48}\b"),
    ("zhipu-key", r"[a-f0-9]{32}\.[A-Za-z0-9]{16}\b"),
    ("ollama-key", r"[a-f0-9]{32}\.[A-Za-z0-9_-]{24}\b"),
    ("airtable-key", r"key[A-Z][A-Za-z0-9]{13}\b"),
    ("codesandbox-token", r"csb_v1_[A-Za-z0-9_-]{30,}"),
    ("ngrok-token", r"[12][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}\b"),
    ("klaviyo-key", r"pk_[a-f0-9]{34}\b"),
    ("cursor-key", r"key_[0-9a-f]{64}\b"),
    ("sumologic-key", r"SUMO[A-Za-z0-9]{60,}"),
    ("alibaba-sts", r"STS\.[A-Za-z0-9]{20,}"),
    ("lob-key", r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}\b"),
)

WEAK: Final[tuple[tuple[str, str], ...]] = (
    ("openai-key", r"sk-[A-Za-z0-9_-]{32,}"),
    ("notion-token", r"secret_[A-Za-z0-9]{40,}"),
    ("firecrawl-key", r"fc-[a-f0-9]{30,}"),
    ("fireworks-key", r"fw_[A-Za-z0-9]{20,}"),
    ("voyage-key", r"pa-[A-Za-z0-9_-]{40,}"),
    ("modal-token", r"a[ks]-[A-Za-z0-9]{22}\b"),
    ("brave-key", r"BSA[A-Za-z0-9_-]{24,}"),
    ("crates-token", r"cio[A-Za-z0-9]{32}\b"),
    ("clickhouse-key", r"4b1d[A-Za-z0-9]{38}\b"),
    ("exoscale-key", r"EXO[A-Za-z0-9]{24,}"),
    ("gocardless-token", r"(?:live|sandbox)_[A-Za-z0-9_-]{36,}"),
    ("mollie-key", r"(?:live|test)_[A-Za-z0-9]{28,}"),
    ("flagsmith-key", r"ser\.[A-Za-z0-9]{20,24}\b"),
    ("mandrill-key", r"md-[A-Za-z0-9_-]{22}\b"),
    ("browserbase-key", r"bb_(?:live|test)_[A-Za-z0-9_-]{24,}"),
    ("infisical-token", r"st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{30,}"),
    ("vault-legacy-token", r"s\.[A-Za-z0-9]{24}\b"),
    ("recaptcha-key", r"6L[c-f][A-Za-z0-9_-]{36,38}\b"),
    ("riot-key", rf"RGAPI-{_HEX8_UUID}"),
    ("workos-key", r"sk_(?:[a-z]+_)?[A-Za-z0-9]{32,}"),
    ("ibm-key", r"ApiKey-[A-Za-z0-9_-]{36,}"),
    ("generic-pat", r"[a-z]{2,8}_(?:pat|key|token|secret)_[A-Za-z0-9]{20,}"),
)


_PASSWORD: Final = (
    r"(?:pass(?:word|wd|phrase|code|wort)|passw|pwd|(?:db|user|smtp|mysql|pg|redis|ldap|root|admin|ftp|proxy|my)[_-]?pass|"
    r"contrase(?:n|\?)a|mot de passe|kennwort)"
)
_TOKEN: Final = (
    r"(?:(?:api|app|access|secret|private|auth|signing|signature|encryption|encrypt|master|account|shared[ _-]?access|storage|"
    r"service|license|licence|admin|consumer|client|deploy|deployment|session|server|subscription|integration|ingest|write|"
    r"webhook|application|project|cosmos|sas|hmac|jwt|ssh|rest|user|team|sdk|search|routing|developer|bot)[ _.-]{0,2}key|"
    r"secret[ _.-]{0,2}access[ _.-]{0,2}key|apikey|secret(?:[ _.-]{0,2}(?:id|string|text))?|token|credentials?|creds|"
    r"auth(?:key|code)?|client[_-]key[_-]data|webhook[ _-]?url|session[ _-]?id|app[ _-]?id|seed)"
)
_SUFFIX: Final = r"(?:[ _-]?(?:prod(?:uction)?|dev|staging|test|live|value|raw|base64|b64|v?[0-9]{1,2}))?"
_CLOSE: Final = r"(?:\\?[\"'\x60*_)\]]|[ \t]){0,4}"
_SEPARATOR: Final = (
    r"(?:=>|:=|={1,3}|:{1,2}|->|\||>|"
    r"</[a-z]{1,10}>\s{0,4}[:=]?\s{0,4}(?:<[a-z]{1,10}[^<>]{0,60}>)?|"
    r"[,\s]{0,12}\\?[\"']?\bvalue\\?[\"']?\s{0,2}[:=])"
)
_OPEN: Final = r"(?:[ \t*]|<[a-z]{1,6}>){0,4}[bruf@$]{0,2}\\?"
_QUOTED: Final = r"(?:\"([^\"\s]{6,250})\"|'([^'\s]{6,250})'|\x60{1,3}([^\x60\s]{6,250})\x60)"
_BARE: Final = r"([^\s\"'\x60,;<>(){}\[\]|&\\]{6,250})"
_IS: Final = r"(?:[ \t]{1,3}(?:is|was|are|of|ist|es|est))[ \t]{0,3}:?[ \t]{0,3}[\"'\x60*]{0,2}"
_SCHEMES: Final = (
    r"(?:Basic|Bearer|Token|ApiKey|Api-Key|Key|Digest|Negotiate|NTLM|GenieKey|SSWS|Bot|OAuth|DPoP|Splunk|Discogs|Snowflake|"
    r"Klaviyo-API-Key|X-API-Key)"
)

#: ``(kind, reading, pattern)``: the group that took part is the secret, the rest of the match stays. ``reading`` says
#: what the value has to look like: ``password`` and ``machine`` inside quotes, ``bare-…`` outside of them,
#: ``any`` for a place that holds nothing but a secret.
CONTEXT: Final[tuple[tuple[str, str, str], ...]] = (
    ("url-password", "any", r"://[^\s/?#\"'<>@:]{0,120}:([^\s/?#\"'<>]{3,250})@[A-Za-z0-9\[]"),
    ("password", "password", rf"(?i){_PASSWORD}{_SUFFIX}{_CLOSE}(?:{_SEPARATOR}|,|\(){_OPEN}{_QUOTED}"),
    ("password", "bare-password", rf"(?i){_PASSWORD}{_SUFFIX}{_CLOSE}{_SEPARATOR}{_OPEN}{_BARE}"),
    ("password", "bare-password", rf"(?i)\b{_PASSWORD}{_IS}{_BARE}"),
    ("password", "bare-password", rf"(?i)--?{_PASSWORD}[ \t]{{1,3}}[\"']?{_BARE}"),
    ("secret", "machine", rf"(?i){_TOKEN}{_SUFFIX}{_CLOSE}(?:{_SEPARATOR}|,|\(){_OPEN}{_QUOTED}"),
    ("secret", "bare-machine", rf"(?i){_TOKEN}s?{_SUFFIX}{_CLOSE}{_SEPARATOR}{_OPEN}{_BARE}"),
    ("secret", "bare-machine", rf"(?i)\b{_TOKEN}{_IS}{_BARE}"),
    ("secret", "bare-machine", rf"(?i)\b{_TOKEN}[ \t]{{1,2}}[\"'\x60]?{_BARE}"),
    ("secret", "bare-machine", rf"[A-Z0-9]_(?:KEY|PAT|DSN){_CLOSE}{_SEPARATOR}{_OPEN}[\"'\x60]?{_BARE}"),
    (
        "authorization",
        "header",
        rf"(?i)\bauthorization{_CLOSE}[:=,][ \t]{{0,3}}[\"'\x60]?(?:{_SCHEMES}[ \t]{{1,3}})?([A-Za-z0-9._~+/=:-]{{8,}})",
    ),
    ("authorization", "bare-machine", r"(?i)\b(?:bearer|basic)[ \t]{1,3}[\"'\x60]?([A-Za-z0-9._~+/=-]{16,})"),
    (
        "header-key",
        "bare-machine",
        r"(?i)\b(?:x-[a-z0-9-]{1,30}|fastly-key|ocp-apim-subscription-key)[\"'\x60]?[ \t]{0,2}:[ \t]{0,3}[\"'\x60]?"
        r"([A-Za-z0-9._~+/=-]{16,})",
    ),
    (
        "session-cookie",
        "bare-machine",
        r"(?i)\b(?:session(?:_?id)?|sess|sid|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|laravel_session|"
        r"_session_id|remember_token)=([A-Za-z0-9%._~+/-]{20,})",
    ),
    (
        "url-secret",
        "bare-machine",
        r"(?i)[?&;](?:[a-z_-]{0,20}(?:token|key|secret|sig|signature|auth|credential|password|passwd|pwd)|"
        r"X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token))=([A-Za-z0-9%._~+/=-]{12,})",
    ),
    (
        "command-password",
        "bare-password",
        r"(?i)\s(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"'<>]{1,80}:([^\s\"'<>]{3,250})",
    ),
    ("command-password", "any", r"(?i)\bsshpass\s{1,3}-p\s{0,3}[\"']?([^\s\"'<>]{4,250})"),
    ("command-password", "any", r"(?i)\bmysql(?:dump|admin)?\b[^\n]{0,80}?\s-p([^\s\"'<>]{6,250})"),
    ("command-password", "any", r"(?i)\bredis-cli\b[^\n]{0,80}?\s-a\s{1,3}[\"']?([^\s\"'<>]{6,250})"),
    ("command-password", "bare-password", r"(?i)\blogin\b[^\n]{0,80}?\s-p[ =]{1,3}[\"']?([^\s\"'<>]{6,250})"),
    ("netrc-password", "any", r"(?i)\blogin\s{1,4}[^\s]{1,200}\s{1,4}password\s{1,4}([^\s<>\"'\x60]{3,250})"),
    (
        "sql-password",
        "password",
        r"(?i)\b(?:identified\s{1,3}(?:with\s{1,3}[^\s]{1,60}\s{1,3})?by|password)\s{1,3}(?:'([^'\s]{4,250})'|\"([^\"\s]{4,250})\")",
    ),
    ("jwk-private", "jwk", r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,3}:\s{0,3}\"([A-Za-z0-9_-]{40,})\""),
)

#: Names beside which a value is public although its name ends like a secret's.
PUBLIC_NAMES: Final = (
    "public", "primary", "foreign", "partition", "cache", "sort", "csrf", "xsrf", "idempotency", "hash", "digest",
    "fingerprint", "pagination", "page", "continuation", "next", "site", "publishable",
)  # fmt: skip

#: Words inside a value that stands for a secret and is none.
PLACEHOLDERS: Final = (
    "example", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "yourown", "redacted", "dummy",
    "sample", "insert", "replace", "todo", "fixme", "xxxx", "****", "....", "____", "----", "foobar", "lorem", "hidden",
    "notreal", "not-a-", "not_a_", "fake", "1234567890abcdef", "process.env", "os.environ", "getenv", "env.", "env[",
    "secrets.", "vault:", "arn:aws", "op://", "<", "${", "{{", "%(", "#{", "[redacted", "\N{HORIZONTAL ELLIPSIS}", "&lt;",
)  # fmt: skip

#: Values that are words for a secret, once digits and signs are taken off.
NAMES_OF_SECRETS: Final = frozenset(
    (
        "password", "passwd", "pass", "pwd", "passphrase", "passcode", "mypassword", "yourpassword", "newpassword",
        "oldpassword", "currentpassword", "userpassword", "dbpassword", "thepassword", "secret", "mysecret", "token",
        "mytoken", "accesstoken", "apikey", "key", "string", "text", "null", "none", "true", "false", "undefined",
        "value", "username", "user", "admin", "root", "test", "testing", "hello", "qwerty", "abc", "abcdef", "required",
        "optional", "disabled", "enabled",
    )
)  # fmt: skip
