#!/usr/bin/env bash
# In its default configuration but for AWS_ENDPOINT_URL.
set -euo pipefail

aws s3 mb "s3://$BUCKET-own"
aws s3 rb "s3://$BUCKET-own"

aws s3 cp --no-progress "$WORK/small" "s3://$BUCKET/$SMALL_KEY"
aws s3 cp --no-progress "$WORK/small" "s3://$BUCKET/$NAMED_KEY"
aws s3 cp --no-progress "$WORK/small" "s3://$BUCKET/$GONE_KEY"
aws s3 cp --no-progress "$WORK/large" "s3://$BUCKET/$LARGE_KEY" # 8 MiB parts

for _ in 1 2 3; do
    aws s3 cp --no-progress "s3://$BUCKET/$LARGE_KEY" "$WORK/down"
    cmp "$WORK/large" "$WORK/down"
done
aws s3 cp --no-progress "s3://$BUCKET/$NAMED_KEY" - | cmp "$WORK/small"

aws s3api get-object --bucket "$BUCKET" --key "$LARGE_KEY" --range "bytes=$FROM-$((TO - 1))" "$WORK/part"
cmp "$WORK/part" <(tail -c "+$((FROM + 1))" "$WORK/large" | head -c $((TO - FROM)))

aws s3api put-object --bucket "$BUCKET" --key "$SMALL_KEY" --body "$WORK/small" --checksum-algorithm SHA256
aws s3 rm "s3://$BUCKET/$GONE_KEY"
[ "$(aws s3 ls --recursive --page-size 2 "s3://$BUCKET" | wc -l)" = 3 ]

mkdir "$WORK/synced"
aws s3 sync --no-progress "s3://$BUCKET" "$WORK/synced"
cmp "$WORK/small" "$WORK/synced/$NAMED_KEY"
