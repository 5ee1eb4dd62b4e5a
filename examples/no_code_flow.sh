#!/usr/bin/env bash
# The HTTP steps of a flow in a no-code tool (Zapier, Make, n8n): video in, subtitles out. Each step is one request that
# such a tool can send; what a later step needs is noted as NAME=… Needs curl, jq, KEY and API (https://…/v1).
#
#     ./no_code_flow.sh talk.mp4 https://hooks.example.com/catch/123
#
# In a no-code tool, steps 1 and 2 run once by hand, and 5 is triggered by the webhook of step 4 instead of waiting.
set -euo pipefail
file=$1 hook=${2:-}
auth=(-H "Authorization: Bearer $KEY" -H "Content-Type: application/json")
request() { curl --silent --show-error --fail-with-body "${auth[@]}" "$@"; }

echo "1. Register the URL that the tool listens on; store SECRET to verify deliveries."
if [ -n "$hook" ]; then
    request "$API/webhook-endpoints" -d "{\"url\": \"$hook\", \"events\": [\"job.ready\", \"job.failed\"]}" | jq -r .secret
fi

echo "2. Look at the credits that can be spent."
request "$API/library" | jq .credits

echo "3. Create the video. A key of your own makes a repeated run of the flow harmless."
run=$(basename "$file")-$(date -r "$file" +%s)
VIDEO=$(request "$API/videos" -H "Idempotency-Key: create-$run" \
    -d "{\"source\": {\"type\": \"upload\", \"fileName\": \"$(basename "$file")\"}}" | jq -r .videoId)
# A tool with the URL of the file skips the upload: {"source": {"type": "https", "url": "https://…"}}
URL=$(request "$API/videos/$VIDEO/uploads" -d "{\"fileName\": \"$(basename "$file")\"}" | jq -r .url)
LOCATION=$(curl --silent --show-error --fail -D - -o /dev/null -X POST "$URL" -H 'x-goog-resumable: start' |
    tr -d '\r' | sed -n 's/^location: //ip')
curl --silent --show-error --fail -T "$file" "$LOCATION" >/dev/null

echo "4. Request captions; the job waits for the transcript. At most 5 credits may be spent."
JOB=$(request "$API/videos/$VIDEO/captions" -H "Idempotency-Key: captions-$run" -H 'Cutroom-Max-Credits: 5' \
    -d '{"languages": ["pt"], "acceptDraft": true}' | jq -r '.jobs[0].id')

echo "5. Wait for the job $JOB."
until request "$API/jobs/$JOB?wait=30" | jq -e '.status == "ready" or .status == "failed"' >/dev/null; do :; done
request "$API/jobs/$JOB" | jq -e '.status == "ready"' >/dev/null || { request "$API/jobs/$JOB" | jq .error; exit 1; }

echo "6. Fetch the subtitles."
SUBTITLES=$(request "$API/videos/$VIDEO/subtitles/pt?format=srt" | jq -r .downloadUrl)
curl --silent --show-error --fail "$SUBTITLES" -o "${file%.*}.pt.srt"
echo "saved ${file%.*}.pt.srt"
