#!/usr/bin/env bash
# A remote without a file: provider Other, as rclone's documentation has it for S3 compatible stores.
set -euo pipefail

export RCLONE_CONFIG=/dev/null
export RCLONE_CONFIG_RH_TYPE=s3 RCLONE_CONFIG_RH_PROVIDER=Other RCLONE_CONFIG_RH_ENV_AUTH=true
export RCLONE_CONFIG_RH_ENDPOINT=$ENDPOINT RCLONE_CONFIG_RH_REGION=$AWS_REGION

rclone mkdir "rh:$BUCKET-own"
rclone rmdir "rh:$BUCKET-own"

rclone copyto "$WORK/small" "rh:$BUCKET/$SMALL_KEY"
rclone copyto "$WORK/small" "rh:$BUCKET/$NAMED_KEY"
rclone copyto "$WORK/small" "rh:$BUCKET/$GONE_KEY"
rclone copyto --s3-upload-cutoff 5M --s3-chunk-size 5M "$WORK/large" "rh:$BUCKET/$LARGE_KEY"

for _ in 1 2 3; do
    rm -f "$WORK/down"
    rclone copyto "rh:$BUCKET/$LARGE_KEY" "$WORK/down"
    cmp "$WORK/large" "$WORK/down"
done
rclone cat "rh:$BUCKET/$NAMED_KEY" | cmp "$WORK/small"
rclone cat --offset "$FROM" --count $((TO - FROM)) "rh:$BUCKET/$LARGE_KEY" \
    | cmp - <(tail -c "+$((FROM + 1))" "$WORK/large" | head -c $((TO - FROM)))

rclone deletefile "rh:$BUCKET/$GONE_KEY"
[ "$(rclone lsf -R --files-only --s3-list-chunk 2 "rh:$BUCKET" | wc -l)" = 3 ]

mkdir "$WORK/synced"
rclone sync "rh:$BUCKET" "$WORK/synced"
rclone check --download "$WORK/synced" "rh:$BUCKET"
