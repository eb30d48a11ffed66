#!/usr/bin/env bash
# It takes its endpoint from S3_ENDPOINT_URL, not from AWS_ENDPOINT_URL.
set -euo pipefail

export S3_ENDPOINT_URL=$ENDPOINT

s5cmd mb "s3://$BUCKET-own"
s5cmd rb "s3://$BUCKET-own"

s5cmd cp "$WORK/small" "s3://$BUCKET/$SMALL_KEY"
s5cmd cp "$WORK/small" "s3://$BUCKET/$NAMED_KEY"
s5cmd cp "$WORK/small" "s3://$BUCKET/$GONE_KEY"
s5cmd cp --part-size 5 "$WORK/large" "s3://$BUCKET/$LARGE_KEY"

for _ in 1 2 3; do
    s5cmd cp --part-size 5 "s3://$BUCKET/$LARGE_KEY" "$WORK/down" # ranges at a time
    cmp "$WORK/large" "$WORK/down"
done
s5cmd cat "s3://$BUCKET/$NAMED_KEY" | cmp "$WORK/small"

s5cmd rm "s3://$BUCKET/$GONE_KEY"
[ "$(s5cmd ls "s3://$BUCKET/*" | wc -l)" = 3 ]

mkdir "$WORK/synced"
s5cmd sync "s3://$BUCKET/*" "$WORK/synced/"
cmp "$WORK/small" "$WORK/synced/$NAMED_KEY"
