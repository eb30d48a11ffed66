import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import {
    CreateBucketCommand, DeleteBucketCommand, DeleteObjectsCommand, GetObjectCommand, HeadObjectCommand,
    paginateListObjectsV2, PutObjectCommand, S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";

const { BUCKET: Bucket, WORK, SMALL_KEY, LARGE_KEY, NAMED_KEY, GONE_KEY } = process.env;
const from = Number(process.env.FROM), to = Number(process.env.TO);
const small = readFileSync(`${WORK}/small`), large = readFileSync(`${WORK}/large`);
// Takes AWS_ENDPOINT_URL. For an endpoint that is a name it would put the bucket into the host name.
const s3 = new S3Client({});

const get = async (Key, more = {}) => {
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key, ...more }));
    return { ...answer, content: Buffer.from(await answer.Body.transformToByteArray()) };
};

await s3.send(new CreateBucketCommand({ Bucket: Bucket + "-own" }));
await s3.send(new DeleteBucketCommand({ Bucket: Bucket + "-own" }));

for (const Key of [SMALL_KEY, NAMED_KEY, GONE_KEY]) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: small, Metadata: { epoch: "7" } }));
}
await new Upload({ client: s3, params: { Bucket, Key: LARGE_KEY, Body: createReadStream(`${WORK}/large`) } }).done();

for (let round = 0; round < 3; round++) {
    const answer = await get(SMALL_KEY);
    assert(answer.content.equals(small), "small object");
    assert.deepEqual(answer.Metadata, { epoch: "7" });
    assert((await get(LARGE_KEY)).content.equals(large), "large object");
}
assert((await get(NAMED_KEY)).content.equals(small), "object with a hard name");
const part = await get(LARGE_KEY, { Range: `bytes=${from}-${to - 1}` });
assert(part.content.equals(large.subarray(from, to)), "range");
assert.equal((await s3.send(new HeadObjectCommand({ Bucket, Key: LARGE_KEY }))).ContentLength, large.length);

await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: GONE_KEY }] } }));
const keys = [];
for await (const page of paginateListObjectsV2({ client: s3, pageSize: 2 }, { Bucket })) {
    keys.push(...page.Contents.map((entry) => entry.Key));
}
assert.deepEqual(keys.sort(), [SMALL_KEY, LARGE_KEY, NAMED_KEY].sort(), "listing in pages");
