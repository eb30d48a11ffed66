import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Both clients of the SDK, synchronous and asynchronous; both take AWS_ENDPOINT_URL. */
public final class Client {
    private static final String BUCKET = System.getenv("BUCKET");
    private static final Path WORK = Path.of(System.getenv("WORK"));
    private static final String SMALL_KEY = System.getenv("SMALL_KEY");
    private static final String LARGE_KEY = System.getenv("LARGE_KEY");
    private static final String NAMED_KEY = System.getenv("NAMED_KEY");
    private static final String GONE_KEY = System.getenv("GONE_KEY");
    private static final int FROM = Integer.parseInt(System.getenv("FROM"));
    private static final int TO = Integer.parseInt(System.getenv("TO"));

    public static void main(String[] args) throws Exception {
        byte[] small = Files.readAllBytes(WORK.resolve("small"));
        byte[] large = Files.readAllBytes(WORK.resolve("large"));
        try (S3Client s3 = S3Client.create();
                S3AsyncClient async = S3AsyncClient.builder().multipartEnabled(true).build()) {
            s3.createBucket(r -> r.bucket(BUCKET + "-own"));
            s3.deleteBucket(r -> r.bucket(BUCKET + "-own"));
            write(s3, small);
            async.putObject(r -> r.bucket(BUCKET).key(LARGE_KEY), AsyncRequestBody.fromFile(WORK.resolve("large")))
                    .join();
            for (int round = 0; round < 3; round++) {
                expect(read(s3, SMALL_KEY, null), small, "small object");
                expect(read(s3, LARGE_KEY, null), large, "large object");
                byte[] whole = async.getObject(r -> r.bucket(BUCKET).key(LARGE_KEY),
                        AsyncResponseTransformer.<GetObjectResponse>toBytes()).join().asByteArray();
                expect(whole, large, "large object, asynchronously");
            }
            expect(read(s3, NAMED_KEY, null), small, "object with a hard name");
            expect(read(s3, LARGE_KEY, "bytes=" + FROM + "-" + (TO - 1)), Arrays.copyOfRange(large, FROM, TO), "range");
            remove(s3);
        }
    }

    private static void write(S3Client s3, byte[] small) {
        s3.putObject(r -> r.bucket(BUCKET).key(SMALL_KEY).metadata(Map.of("epoch", "7")), RequestBody.fromBytes(small));
        s3.putObject(r -> r.bucket(BUCKET).key(NAMED_KEY).checksumAlgorithm(ChecksumAlgorithm.SHA256),
                RequestBody.fromBytes(small));
        s3.putObject(r -> r.bucket(BUCKET).key(GONE_KEY), RequestBody.empty());
        expect(s3.headObject(r -> r.bucket(BUCKET).key(SMALL_KEY)).metadata().equals(Map.of("epoch", "7")), "metadata");
    }

    private static void remove(S3Client s3) {
        s3.deleteObjects(r -> r.bucket(BUCKET)
                .delete(d -> d.objects(ObjectIdentifier.builder().key(GONE_KEY).build())));
        List<String> keys = s3.listObjectsV2Paginator(r -> r.bucket(BUCKET).maxKeys(2))
                .contents().stream().map(S3Object::key).sorted().toList();
        expect(keys.equals(Stream.of(SMALL_KEY, LARGE_KEY, NAMED_KEY).sorted().toList()), "listing in pages");
    }

    private static byte[] read(S3Client s3, String key, String range) {
        return s3.getObjectAsBytes(r -> r.bucket(BUCKET).key(key).range(range)).asByteArray();
    }

    private static void expect(byte[] actual, byte[] expected, String what) {
        expect(Arrays.equals(actual, expected), what);
    }

    private static void expect(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("wrong: " + what);
        }
    }
}
